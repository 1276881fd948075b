package main

import (
	"tandem/cmd/internal/modelcmd"
	"tandem/model"
	"tandem/models"
	"tandem/npu"
)

// openOn opens the model file at path, or the built-in decoder if path is empty, on a device.
func openOn(d npu.Device, path string, opts ...model.Option) (*model.Model, error) {
	if path == "" {
		return model.OpenBytes(modelcmd.BuiltInDecoder, models.Decoder, d, opts...)
	}
	return model.Open(path, d, opts...)
}
