package gguf

// fileTypes are the values of general.file_type (llama.cpp's llama_ftype): what most matrices of a file are stored as and, where
// one type has several mixes, which of them.
var fileTypes = map[uint64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L",
	14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
	23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
	36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}

// Quantization names what most of the model is stored as, such as Q4_K_M: by the file's general.file_type or, if that is missing or
// not known, by the type of most parameters. It is empty for a file without tensors that says nothing.
func (f *File) Quantization() string {
	number, ok := f.Uint("general.file_type")
	if name := fileTypes[number]; ok && name != "" {
		return name
	}
	if types := f.Describe().Types; len(types) > 0 {
		return types[0].Name
	}
	return ""
}
