package mcpkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
)

// returns is a tool whose result is always v.
func returns[Out any](v Out) mcpkit.Feature {
	probe := tool[nothing, Out]()
	probe.Run = func(context.Context, nothing) (Out, error) { return v, nil }
	return probe.Install
}

type nils struct {
	A  []string                    `json:"a"`
	B  []nilItem                   `json:"b"`
	M  map[string][]string         `json:"m"`
	MM map[string]map[string][]int `json:"mm"`
	R  json.RawMessage             `json:"r"`
	Y  any                         `json:"y"`
	Z  []byte                      `json:"z"`
	T  string                      `json:"t"`
}

type nilItem struct {
	L []int `json:"l"`
}

func TestResults(t *testing.T) {
	tests := []struct {
		name    string
		feature mcpkit.Feature
		want    string
	}{
		{"all nil", returns(nils{}), `{"a":[],"b":[],"m":{},"mm":{},"r":null,"y":null,"z":"","t":""}`},
		{"nil inside", returns(nils{
			B: []nilItem{{}, {L: []int{1}}}, M: map[string][]string{"k": nil, "l": {"null"}}, MM: map[string]map[string][]int{"k": nil, "l": {"m": nil}},
			R: json.RawMessage(`{"a":[null]}`), Y: []any{nil, 1.5}, Z: []byte{0}, T: `null,"a":null`,
		}), `{"a":[],"b":[{"l":[]},{"l":[1]}],"m":{"k":[],"l":["null"]},"mm":{"k":{},"l":{"m":[]}},"r":{"a":[null]},"y":[null,1.5],"z":"AA==","t":"null,\"a\":null"}`},
		{"numbers and order keep their text", returns(nils{
			R: json.RawMessage(`{"z":1.50,"a":123456789012345678901234567890,"m":1e2}`), A: nil,
		}), `{"a":[],"b":[],"m":{},"mm":{},"r":{"z":1.50,"a":123456789012345678901234567890,"m":1e2},"y":null,"z":"","t":""}`},
		{"pointer", returns(&nilItem{}), `{"l":[]}`},
		{"nothing", returns(nothing{}), `{}`},
		{"pattern", returns(struct {
			S string `json:"s" schema:"kind=sha256"`
		}{"ab"}), `{"error":{"code":"internal","message":"the result does not match the output schema: \"s\": want text that matches ^[0-9a-f]{64}$"}}`},
		{"time before year 0", returns(struct {
			At time.Time `json:"at"`
		}{time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}), `{"error":{"code":"internal","message":"encoding the result: json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: year outside of range [0,9999]"}}`},
		{"not a number", returns(struct{ F float64 }{math.NaN()}), `{"error":{"code":"internal","message":"encoding the result: json: unsupported value: NaN"}}`},
		{"nil pointer", returns[*nilItem](nil), `{"error":{"code":"internal","message":"the result does not match the output schema: the top level: want object, got null (leave it out)"}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, e := range eras {
				t.Run(e.String(), func(t *testing.T) {
					got := dial(t, newServer(t, nil, test.feature), e).callTool(t, "probe", `{}`)
					if diff := cmp.Diff(test.want, got); diff != "" {
						t.Errorf("result (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// A value that calls share is read by all of them and written by none; the race detector watches.
func TestResultsShareValues(t *testing.T) {
	value := nils{B: []nilItem{{}, {}}, M: map[string][]string{"k": nil}}
	server := newServer(t, nil, returns(value))
	done := make(chan bool)
	for range 4 {
		p := dial(t, server, stateless)
		go func() {
			defer func() { done <- true }()
			for range 20 {
				p.callTool(t, "probe", `{}`)
			}
		}()
	}
	for range 4 {
		<-done
	}
	if value.B[0].L != nil || value.M["k"] != nil {
		t.Errorf("the shared value was changed: %+v", value)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"coded", &brokenError{"a"}, `{"error":{"code":"file_broken","message":"the file a is broken"}}`},
		{"coded, wrapped", errors.Join(errors.New("inside"), &brokenError{"a"}), `{"error":{"code":"file_broken","message":"the file a is broken"}}`},
		{"cancelled", context.Canceled, `{"error":{"code":"canceled","message":"context canceled"}}`},
	}
	for _, test := range tests {
		probe := tool[nothing, nothing]()
		probe.Run = func(context.Context, nothing) (nothing, error) { return nothing{}, test.err }
		for _, e := range eras {
			t.Run(e.String(), func(t *testing.T) {
				got := dial(t, newServer(t, nil, probe.Install), e).callTool(t, "probe", `{}`)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.name, diff)
				}
			})
		}
	}
}
