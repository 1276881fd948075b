package model

import (
	"tandem/npu"
	"tandem/npu/sim"
)

// simulated lets the device behave like the chip's NPU and take its time. It closes the device on failure.
func simulated(d npu.Device, chip string) (npu.Device, *sim.Device, error) {
	costs, err := sim.Find(chip)
	if err != nil {
		d.Close()
		return nil, nil, err
	}
	phone := sim.Wrap(d, costs, sim.Options{Paced: true})
	return phone, phone, nil
}

// Phone returns what the simulated NPU did since the model was opened; ok is false where none is simulated.
func (m *Model) Phone() (s sim.Stats, ok bool) {
	if m.phone == nil {
		return s, false
	}
	return m.phone.Stats(), true
}
