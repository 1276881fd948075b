package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
)

// Results are read back as they were written. What does not apply is left out.
func TestResults(t *testing.T) {
	row := Result{Experiment: "latency", Method: "tandem", RTT: Is(0), PerToken: Is(1.0 / 3), Simulated: true}
	data, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"experiment":"latency","method":"tandem","rtt_ms":0,"per_token_ms":0.3333,"simulated":true}`; string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	var back Result
	if err := json.Unmarshal(data, &back); err != nil || !back.RTT.Known || back.Loss.Known || back.PerToken.Value != 0.3333 {
		t.Errorf("%+v, %v", back, err)
	}
	var table bytes.Buffer
	if err := writeCSV(&table, []Result{row, {}}); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(records) != 3 || records[1][5] != "0" || records[1][6] != "" || records[0][15] != "simulated" {
		t.Errorf("%q, %v", records, err)
	}
}

// Without a cell to compare there is no alarm.
func TestNoTextsToCompare(t *testing.T) {
	if got := SameTexts([]Result{{Method: "tandem/mirror"}, {Method: "tandem/mirror"}}); strings.Contains(got, "DIFFER") {
		t.Error(got)
	}
}
