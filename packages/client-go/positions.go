package waybill

import (
	"strings"
	"sync"
)

// positionHeader has the position of a write, in responses of a service with read replicas. Later requests send it back
// so that reads include the write.
const positionHeader = "X-Waybill-Position"

// maxPositions is the maximum number of positions in the header; the service accepts no more.
const maxPositions = 16

// writePositions are the positions of the last writes. Positions cannot be compared, and responses may arrive out of
// order. A write replaces the positions that it sent when it began; positions of concurrent writes are all kept.
type writePositions struct {
	lock      sync.Mutex
	writes    int
	positions []writePosition
}

type writePosition struct {
	write    int
	position string
}

// begin returns the number of writes so far, and the header of a request that begins now.
func (w *writePositions) begin() (int, string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	texts := make([]string, len(w.positions))
	for nth, each := range w.positions {
		texts[nth] = each.position
	}
	return w.writes, strings.Join(texts, ",")
}

func (w *writePositions) add(begun int, position string) {
	if position == "" {
		return
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.writes++
	var kept []writePosition
	for _, each := range w.positions {
		if each.write > begun {
			kept = append(kept, each)
		}
	}
	kept = append(kept, writePosition{w.writes, position})
	if len(kept) > maxPositions {
		kept = kept[len(kept)-maxPositions:]
	}
	w.positions = kept
}
