package main

import (
	"testing"

	"tandem"
	"tandem/node"
)

// An answer that the cloud gave alone says that the cloud gave it, in every place that names a side.
func TestAnswerOfTheCloudNamesTheCloud(t *testing.T) {
	a := node.Answer{Tokens: []node.Token{{By: tandem.ByDevice}}, Read: [2]int{3, 0},
		Parts: []node.Part{{Sources: []node.Cited{{Side: tandem.Device}}, Quotes: []node.Quote{{Side: tandem.Device}}}}}
	a.Documents[tandem.Device] = []node.Source{{Title: "Otter pool"}}
	a = ofCloud(a)
	p := a.Parts[0]
	if a.Tokens[0].By != tandem.ByCloud || p.Sources[0].Side != tandem.Cloud || p.Quotes[0].Side != tandem.Cloud || a.Read != [2]int{0, 3} ||
		len(a.Documents[tandem.Cloud]) != 1 || len(a.Documents[tandem.Device]) != 0 {
		t.Errorf("the answer is %+v", a)
	}
	if l := lineOfCloud(node.Line{Event: "decode", Side: "device", By: "device"}); l.Side != "cloud" || l.By != "cloud" {
		t.Errorf("the line is %+v", l)
	}
}
