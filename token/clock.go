package token

import (
	"sync"
	"time"
)

// maxSkew is how far clocks may disagree, between processes or before and
// after a correction.
const maxSkew = 60 * time.Second

// A clock tells the time so that it never goes back by more than a correction,
// and notices when the system's clock does. It is safe for concurrent use.
type clock struct {
	now func() time.Time

	mu   sync.Mutex
	last time.Time // the latest reading, with its monotonic part if it has one
	told time.Time // the latest time told
}

func newClock(now func() time.Time) *clock {
	if now == nil {
		now = time.Now
	}
	return &clock{now: now}
}

// read returns the time, in UTC and whole milliseconds. While the process
// lives, time passes at least as fast as the monotonic clock says; a wall
// clock that is ahead is followed. back reports that the wall clock fell behind
// by more than maxSkew since the last reading: the time told then is that of
// the wall clock again, and what was stamped before cannot be dated.
func (c *clock) read() (now time.Time, back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reading := c.now()
	wall := reading.UTC().Truncate(time.Millisecond)
	if c.last.IsZero() {
		c.last, c.told = reading, wall
		return wall, false
	}
	told := c.told.Add(max(reading.Sub(c.last), 0))
	switch {
	case wall.After(told):
		told = wall
	case told.Sub(wall) > maxSkew:
		told, back = wall, true
	}
	c.last, c.told = reading, told
	return told.Truncate(time.Millisecond), back
}
