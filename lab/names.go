package lab

func liveOrSimulated(simulated bool) string {
	if simulated {
		return "simulated"
	}
	return "live"
}

// fileName gives simulated and live experiments different names, so that both fit into one folder.
func fileName(experiment string, simulated bool) string {
	if simulated {
		return experiment + "-simulated"
	}
	return experiment
}
