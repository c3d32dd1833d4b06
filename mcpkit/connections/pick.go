package connections

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpcontract/mcpcontract/normalize"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/vault"
)

// A freeRule reports whether a name may stand for a value.
type freeRule func(name, value string) (bool, error)

// anyName is the rule where nothing is named yet.
func anyName(string, string) (bool, error) { return true, nil }

// maxSecrets bounds the secrets of one record, each of which is a name that a
// person is to read before they approve it.
const maxSecrets = 100

// tooManySecrets names no server: its name may be one of the secrets.
func tooManySecrets() error {
	return &result.Error{
		Code:    CodeTooManySecrets,
		Message: fmt.Sprintf("a server has more than %d different secrets in clear, which is the limit: put references such as ${NAME} in their places", maxSecrets),
	}
}

// series are the names NAME, NAME_2, NAME_3 and so on of one base.
type series struct {
	next    int      // the first number that was not tried yet, less one
	skipped []string // names tried that were not free, which may be so for another value
}

// pick chooses a name that stands for nothing else.
func (l *lifter) pick(hint, value string) (string, error) {
	if v, ok := strings.CutPrefix(hint, "env."); ok && variable.MatchString(v) {
		if ok, err := l.usable(v, value); ok || err != nil {
			return v, err
		}
	}
	_, hint, _ = strings.Cut(hint, ".")
	base := baseName(l.server, hint)
	at := l.series[base]
	if at == nil {
		at = new(series)
		l.series[base] = at
	}
	for i, name := range at.skipped {
		if ok, err := l.usable(name, value); ok || err != nil {
			at.skipped = slices.Delete(at.skipped, i, i+1)
			return name, err
		}
	}
	for {
		name := base
		if at.next++; at.next > 1 {
			name += "_" + strconv.Itoa(at.next)
		}
		if ok, err := l.usable(name, value); ok || err != nil {
			return name, err
		}
		if !l.taken[name] {
			at.skipped = append(at.skipped, name)
		}
		if l.stopped() {
			return "", l.err
		}
	}
}

// usable reports whether a name may stand for a value, and stands for none yet.
func (l *lifter) usable(name, value string) (bool, error) {
	if l.taken[name] || reserved(name) {
		return false, nil
	}
	return l.free(name, value)
}

// baseName makes a name of that of a server and a place in it, both of which a
// stranger chose: never one that means something to the system or to programs.
func baseName(server, place string) string {
	base := strings.Trim(identifier(server)+"_"+identifier(place), "_")
	if base == "" {
		return "SECRET"
	}
	if reserved(base) {
		base += "_SECRET"
	}
	if reserved(base) { // for its beginning
		base = "SECRET_" + base
	}
	return base
}

// reserved reports whether a name is that of a variable by which the system tells
// programs where they are, or that changes what they load, run or trust. A value
// under it would reach whatever refers to the variable.
func reserved(name string) bool {
	name = strings.ToUpper(name)
	return reservedNames[name] || slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// reservedPrefixes begin the names of variables of the loader, of the language, and
// of the settings of git and npm.
var reservedPrefixes = []string{"LD_", "DYLD_", "LC_", "GIT_CONFIG_", "NPM_CONFIG_"}

// reservedNames has what package normalize notes as dangerous, which is internal to
// it, what package lookup drops, and what systems set.
var reservedNames = setOf(`
	PATH HOME USER LOGNAME USERNAME SHELL PWD OLDPWD LANG LANGUAGE TERM COLORTERM TMPDIR TMP TEMP TZ TZDIR DISPLAY WAYLAND_DISPLAY
	XAUTHORITY HOSTNAME HOSTTYPE OSTYPE MACHTYPE SHLVL MAIL EDITOR VISUAL PAGER BROWSER LINES COLUMNS UID EUID PPID PS1 PS2 PS4 CDPATH
	XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
	SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS SUDO_ASKPASS GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS
	SYSTEMROOT SYSTEMDRIVE WINDIR APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES COMMONPROGRAMFILES ALLUSERSPROFILE PUBLIC
	USERPROFILE USERDOMAIN HOMEDRIVE HOMEPATH COMPUTERNAME LOGONSERVER COMSPEC PATHEXT PSMODULEPATH OS
	NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE APPINIT_DLLS

	IFS ENV BASH_ENV SHELLOPTS BASHOPTS PROMPT_COMMAND ZDOTDIR GCONV_PATH GLIBC_TUNABLES MALLOC_CHECK_
	NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED ELECTRON_RUN_AS_NODE DENO_CERT DENO_DIR
	PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONHTTPSVERIFY VIRTUAL_ENV
	PERL5LIB PERL5OPT PERLLIB RUBYOPT RUBYLIB GEM_PATH GEM_HOME CLASSPATH JAVA_HOME JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
	JAVA_OPTS GOFLAGS GOROOT GOPATH GOBIN GOENV GOPROXY GOSUMDB GONOSUMDB GOPRIVATE GONOPROXY GOINSECURE GOTOOLCHAIN
	DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS
	GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_EDITOR GIT_PAGER GIT_DIR GIT_PROXY_COMMAND GIT_TEMPLATE_DIR
	GIT_SSL_NO_VERIFY UV_INDEX_URL UV_DEFAULT_INDEX PIP_INDEX_URL DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT
	HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE VERIFY_SSL SSL_VERIFY`)

// setOf makes a set of the words of a text.
func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// vaultNames are the names that the profile has, read once for a call, with the
// values of those that were asked for. It is not safe for concurrent use.
type vaultNames struct {
	profile profile
	names   map[string]bool
	values  map[string]string
}

// vaultNames reads the names of the profile.
func (s *Store) vaultNames() (*vaultNames, error) {
	list, err := s.profile.Names()
	if err != nil {
		return nil, err
	}
	v := &vaultNames{profile: s.profile, names: make(map[string]bool, len(list)), values: make(map[string]string)}
	for _, name := range list {
		v.names[name] = true
	}
	return v, nil
}

// fits reports whether a name of the vault has that value, or is none.
func (v *vaultNames) fits(name, value string) (bool, error) {
	if !v.names[name] {
		return true, nil
	}
	have, ok := v.values[name]
	if !ok {
		secret, _, err := v.profile.Get(name)
		if vault.CodeOf(err) == vault.CodeSecretMissing { // removed meanwhile
			delete(v.names, name)
			return true, nil
		}
		if err != nil {
			return false, err
		}
		have = secret.Reveal()
		v.values[name] = have
	}
	return have == value, nil
}

// free returns the rule by which secrets of a record get their names: none that the
// record refers to by itself, none that holds another value, unless it is one of
// those that go with the connection that is replaced.
func (v *vaultNames) free(server *normalize.Server, replaced []string) freeRule {
	used := make(map[string]bool)
	for _, name := range refNames(server) {
		used[name] = true
	}
	own := make(map[string]bool)
	for _, name := range replaced {
		own[name] = true
	}
	env := make(map[string]string)
	for _, p := range server.Env {
		if _, ok := env[p.Name]; !ok {
			env[p.Name] = p.Value
		}
	}
	return func(name, value string) (bool, error) {
		if used[name] {
			return false, nil
		}
		if have, ok := env[name]; ok && have != value {
			return false, nil
		}
		if own[name] {
			return true, nil
		}
		return v.fits(name, value)
	}
}

// unshared returns those of the names to which no connection but the named one
// refers. Where that cannot be told, it is none.
func (s *Store) unshared(names []string, but string) []string {
	if len(names) == 0 {
		return nil
	}
	others := make(map[string]bool)
	err := s.each(func(_ *vault.Record, e *entry) {
		if e.Server.Name == but {
			return
		}
		for _, name := range refNames(&e.Server) {
			others[name] = true
		}
	})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return others[name] })
}
