package result_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpcontract/mcpcontract/result"
)

// ExampleNewSealer is one page of a list with a cursor that opens for the
// same question only.
func ExampleNewSealer() {
	sealer := result.NewSealer(0)
	query := []byte("list_repos owner=docs snapshot=4f2a")

	cursor, err := sealer.Seal([]byte("after=alpha"), query)
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := sealer.Open(cursor, query)
	fmt.Printf("%s %v\n", state, err)

	_, err = sealer.Open(cursor, []byte("list_repos owner=else snapshot=4f2a"))
	fmt.Println(err)
	// Output:
	// after=alpha <nil>
	// the cursor is not valid for this call or has expired: start again without a cursor
}

func TestSealer(t *testing.T) {
	s := result.NewSealer(0)
	bound := []byte("query")
	sealed, err := s.Seal([]byte("state"), bound)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Seal([]byte("state"), bound); again == sealed {
		t.Error("sealing twice gives the same text: it tells equal states")
	}
	if strings.Trim(sealed, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		t.Errorf("the cursor %q is not plain text", sealed)
	}
	flipped := []byte(sealed)
	flipped[20] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"empty":           func() ([]byte, error) { return s.Open("", bound) },
		"not base64":      func() ([]byte, error) { return s.Open("!"+sealed, bound) },
		"short":           func() ([]byte, error) { return s.Open(sealed[:8], bound) },
		"cut":             func() ([]byte, error) { return s.Open(sealed[:len(sealed)-2], bound) },
		"longer":          func() ([]byte, error) { return s.Open(sealed+"AA", bound) },
		"line feed":       func() ([]byte, error) { return s.Open(sealed+"\n", bound) },
		"carriage return": func() ([]byte, error) { return s.Open(sealed[:9]+"\r"+sealed[9:], bound) },
		"space":           func() ([]byte, error) { return s.Open(sealed+" ", bound) },
		"padding":         func() ([]byte, error) { return s.Open(sealed+"=", bound) },
		"altered":         func() ([]byte, error) { return s.Open(string(flipped), bound) },
		"huge":            func() ([]byte, error) { return s.Open(strings.Repeat("A", 1<<20), bound) },
		"other query":     func() ([]byte, error) { return s.Open(sealed, []byte("Query")) },
		"no query":        func() ([]byte, error) { return s.Open(sealed, nil) },
		"another process": func() ([]byte, error) { return result.NewSealer(0).Open(sealed, bound) },
	} {
		plain, err := open()
		var e *result.Error
		if plain != nil || !errors.As(err, &e) || e.Code != result.CodeCursorInvalid {
			t.Errorf("%s: got %q and error %v, want cursor_invalid", name, plain, err)
		}
	}
}

func TestSealerExpires(t *testing.T) {
	for _, tt := range []struct{ ttl, lives time.Duration }{{0, 30 * time.Minute}, {time.Minute, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			s := result.NewSealer(tt.ttl)
			sealed, err := s.Seal(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(tt.lives - time.Nanosecond)
			if _, err := s.Open(sealed, nil); err != nil {
				t.Errorf("ttl %v: %v", tt.ttl, err)
			}
			time.Sleep(time.Nanosecond)
			if _, err := s.Open(sealed, nil); err == nil {
				t.Errorf("ttl %v: it opens after %v", tt.ttl, tt.lives)
			}
		})
	}
}

func TestSealerBounds(t *testing.T) {
	s := result.NewSealer(0)
	most := make([]byte, 4<<10)
	sealed, err := s.Seal(most, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Open(sealed, nil); err != nil || len(got) != len(most) {
		t.Errorf("got %d bytes and error %v", len(got), err)
	}
	if _, err := s.Seal(append(most, 0), nil); err == nil {
		t.Error("sealed more than 4 KiB")
	}
}
