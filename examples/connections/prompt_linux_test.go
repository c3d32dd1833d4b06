package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpcontract/mcpcontract/examples/internal/clitest"
)

// openTerminal returns the two ends of a new terminal: that of the person, and that
// of the program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine gives no terminals:", err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine gives no terminals:", err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// TestSecretPrompt types a secret, which the terminal must not show.
func TestSecretPrompt(t *testing.T) {
	h := newHome(t)
	person, program := openTerminal(t)
	cmd := clitest.Command(t, "secret", "set", "TYPED")
	cmd.Stdin = program
	msgs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := time.Now().Add(20 * time.Second)
	stop := time.AfterFunc(time.Until(last), func() { cmd.Process.Kill() })
	defer stop.Stop()
	prompt := make([]byte, 200)
	n, err := msgs.Read(prompt)
	if err != nil || !strings.Contains(string(prompt[:n]), "value of TYPED, not shown: ") {
		t.Errorf("the prompt is %q, %v", prompt[:n], err)
	}
	// The prompt stands before the echo is off.
	for echoes(t, program) {
		if time.Now().After(last) {
			t.Fatal("the terminal shows what is typed")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if _, err := person.WriteString(canary + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !echoes(t, program) {
		t.Error("the terminal was left without echo")
	}
	// What is typed now shows where what was shown before ends.
	if _, err := person.WriteString("end\n"); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for buf := make([]byte, 200); !strings.Contains(shown.String(), "end"); {
		n, err := person.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(buf[:n])
	}
	if strings.Contains(shown.String(), canary) {
		t.Errorf("the terminal shows %q", shown.String())
	}
	if out, _, code := runCommand(t, "", "secret", "list"); code != 0 || !strings.Contains(out, "TYPED") {
		t.Errorf("the list is %q", out)
	}
	if _, hits, err := search(h.dir, canary); err != nil || hits > 0 {
		t.Errorf("%d files have the secret, %v", hits, err)
	}
}

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, f *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}
