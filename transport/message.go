//lint:file-ignore U1000 msgpack reads its options from fields named _msgpack

package transport

import (
	"time"

	"tandem"
)

// Message is what an Exchange carries: one of Begin, Ready, Sync, NeedSync, Handover, Sources, Passages,
// Piece, Got, End, Fail, tandem.Draft and tandem.Target, always by value. Send refuses anything else.
type Message any

// Begin opens an exchange: the question and all that both sides must hold in common to answer it.
type Begin struct {
	_msgpack struct{} `msgpack:",as_array"`

	ID          string // names the answer in both sides' logs
	Question    string
	History     []Turn // earlier turns, oldest first
	Seed        uint64
	Sampling    Sampling
	Placement   tandem.Placement
	Coupling    tandem.Coupling
	Gamma       uint32  // out of tandem.Mass: how often the speculative coupling takes the device's result
	TopP        float64 // mass of the nucleus that a draft carries
	MaxSupport  int     // most tokens in a draft's distribution
	Lookahead   int     // most drafts a side may be ahead of the last target
	MaxTokens   int     // length limit of the answer
	Documents   int     // passages each side retrieves
	Rows        int     // contexts that they are grouped into
	Weights     string  // how document weights change during the answer
	ShareTitles bool    // the device asks for the titles of the cloud's documents
	Want        Want    // what the device wants of the cloud
	Contexts    int     // most beginnings of the answer that a pass decodes
}

// Want is what a device wants of the cloud in an exchange. All but the first are baselines (DRAGON §7.1).
type Want uint8

const (
	WantDrafts Want = iota // drafts, token by token
	WantText               // its passages (DRCG/Text)
	WantKV                 // its passages with their KV caches (DRCG/KV)
	WantAnswer             // a whole answer of its own (DRDG/SW)
)

// Turn is one message of the conversation so far.
type Turn struct {
	_msgpack struct{} `msgpack:",as_array"`

	Role    string
	Content string
}

// Sampling says how a side turns logits into probabilities before its nucleus is cut.
type Sampling struct {
	_msgpack struct{} `msgpack:",as_array"`

	Temperature   float64
	TopK          int
	TopP          float64
	MinP          float64
	RepeatPenalty float64
	RepeatLast    int
}

// Ready says that the cloud has retrieved and prefilled and can join the answer.
type Ready struct {
	_msgpack struct{} `msgpack:",as_array"`

	Documents int           // passages in use
	Prefill   time.Duration // retrieval, passage KV and the question's own prefill
	H         tandem.Fixed  // aggregation weight before the first token
}

// Sync starts an epoch from the answer that the device holds.
type Sync struct {
	_msgpack struct{} `msgpack:",as_array"`

	Epoch  uint32
	Tokens []tandem.Token // agreed so far
}

// NeedSync asks the device for a Sync: the sender saw drafts it cannot place.
type NeedSync struct {
	_msgpack struct{} `msgpack:",as_array"`
}

// Handover makes the receiver the side that turns drafts into targets, from Step on (DRAGON §5.1). Either
// side may send it. Arrays are indexed by tandem.Side.
type Handover struct {
	_msgpack struct{} `msgpack:",as_array"`

	Epoch    uint32
	Step     tandem.Step   // the first step without a target
	Prefix   tandem.Prefix // of all tokens before Step
	Versions [2]uint32     // of both sides' drafts
	Accept   [2]float64    // moving averages of the acceptance rates, each 0 to 1
}

// Sources lists the cloud's documents by title. Sent only when its operator allows it.
type Sources struct {
	_msgpack struct{} `msgpack:",as_array"`

	Sources []Source
	Parts   []Part // the sentences of the answer; their sources only with the operator's leave, too
}

// Part is what the cloud drew a sentence of the answer from.
type Part struct {
	_msgpack struct{} `msgpack:",as_array"`

	From    tandem.Step // its first token
	H       float64     // the cloud's mean weight while it was written
	Nothing float64     // share of the context without a document, 0 to 1
	Sources []Source
}

// Source is one document and its mean weight over the answer.
type Source struct {
	_msgpack struct{} `msgpack:",as_array"`

	Title  string
	Weight float64
}

// Passages answers WantText and WantKV. Saved caches follow as Pieces, one after the other (SendBulk).
type Passages struct {
	_msgpack struct{} `msgpack:",as_array"`

	Passages []Passage
	Saved    []int // bytes of each passage's saved KV cache; empty with WantText
}

// Passage is a piece of one of the cloud's documents.
type Passage struct {
	_msgpack struct{} `msgpack:",as_array"`

	Title, Text string
}

// Piece is a part of something large; Got says how much of it has arrived. See SendBulk.
type Piece struct {
	_msgpack struct{} `msgpack:",as_array"`

	Data []byte
}

// Got acknowledges Pieces.
type Got struct {
	_msgpack struct{} `msgpack:",as_array"`

	Bytes int // of all pieces so far
}

// End says that the answer is complete or given up, and why.
type End struct {
	_msgpack struct{} `msgpack:",as_array"`

	Reason string
}

// Fail says why a side cannot take part in the answer.
type Fail struct {
	_msgpack struct{} `msgpack:",as_array"`

	Text string
}

// Limits on what a peer may send, checked before anything is allocated for it.
const (
	MaxQuestion    = 64 << 10  // bytes of Begin.Question
	MaxHistory     = 256 << 10 // bytes of all turns together
	MaxTurns       = 256
	MaxTitle       = 1 << 10 // bytes of a title
	MaxSources     = 256
	MaxParts       = 32        // sentences in Sources
	MaxPartSources = 6         // of them, heaviest first
	MaxText        = 4 << 10   // bytes of a reason, a name, an identifier
	MaxPassages    = 64        // in an exchange
	MaxPassage     = 16 << 10  // bytes of a passage with its title
	MaxBulk        = 256 << 20 // bytes of all that follows as Pieces
	maxPiece       = 16 << 10  // bytes of a Piece
	MaxAnswer      = 1 << 16   // tokens of a Sync
	maxControl     = 512 << 10 // bytes of any control message, uncompressed
)
