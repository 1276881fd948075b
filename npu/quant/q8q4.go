package quant

// Q8_0: 32 values as one F16 scale d and 32 int8 q; value = d·q.

func readQ80(y []float32, b []byte) {
	d := f16At(b, 0)
	for i := range y {
		y[i] = d * float32(int8(b[2+i]))
	}
}

func writeQ80(b []byte, x []float32) {
	var top float32
	for _, v := range x {
		top = max(top, v, -v)
	}
	d := top / 127
	inv := inverse(d)
	putF16(b, 0, d)
	for i, v := range x {
		b[2+i] = byte(int8(nearest(v*inv, -127, 127)))
	}
}

// Q4_0: 32 values as one F16 scale d and 16 bytes. Byte i holds value i in its low half and value i+16 in its high half;
// value = d·(q−8).

func readQ40(y []float32, b []byte) {
	d := f16At(b, 0)
	for i, q := range b[2:18] {
		y[i] = d * float32(int(q&15)-8)
		y[i+16] = d * float32(int(q>>4)-8)
	}
}

func writeQ40(b []byte, x []float32) {
	// The value of largest magnitude maps to −8, which has no positive twin; its sign goes into d.
	var top, extreme float32
	for _, v := range x {
		if a := max(v, -v); a > top {
			top, extreme = a, v
		}
	}
	d := extreme / -8
	inv := inverse(d)
	putF16(b, 0, d)
	for i := range 16 {
		lo, hi := nearest(x[i]*inv, -8, 7)+8, nearest(x[i+16]*inv, -8, 7)+8
		b[2+i] = byte(lo | hi<<4)
	}
}
