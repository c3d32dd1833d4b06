package secrets_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

func ExampleReplaceValue() {
	seal := func(name, value string) string { return "${" + strings.ToUpper(name) + "}" }
	fmt.Println(secrets.ReplaceValue("Authorization", "Bearer plum", func(_, value string) string { return "${AUTHORIZATION}" }))
	fmt.Println(secrets.ReplaceValue("COMMAND", "serve --mode=fast password=plum", seal))
	// Output:
	// Bearer ${AUTHORIZATION}
	// serve --mode=fast password=${PASSWORD}
}

func ExampleRedact() {
	fmt.Println(secrets.Redact("cannot open postgres://ann:plum@db.example/x?mode=fast with --token plumjam"))
	// Output: cannot open postgres://***@db.example/x?mode=fast with --token ***
}

func ExampleRedactArgs() {
	fmt.Println(secrets.RedactArgs([]string{"serve", "--api-key", "plum", "--port=80"}))
	// Output: [serve --api-key *** --port=80]
}

// mixed reads as nothing.
const mixed = "Zq7Vt2Lm9Rx4Kc8Wb3Nd6Hf1"

// mark is what the tests put in the place of secrets.
var mark = regexp.MustCompile(`\$\{!(\w*)\}`)

func TestReplace(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // with <name> in the place of secrets
	}{
		{"an address", "postgres://u:plum@db.example.com/x?sslmode=off", "postgres://u:<password>@db.example.com/x?sslmode=off"},
		{"a user like a token", "https://" + mixed + "@x.example.com/mcp", "https://<>@x.example.com/mcp"},
		{"a user alone", "https://ann@x.example.com/mcp", "https://ann@x.example.com/mcp"},
		{"no password", "https://ann:@x.example.com/mcp", "https://ann:@x.example.com/mcp"},
		{"a path", "https://x.example.com/s/" + mixed + "/mcp", "https://x.example.com/s/<path>/mcp"},
		{"a short part", "https://x.example.com/s/Ab12cd34Ef56gh78/mcp", "https://x.example.com/s/<path>/mcp"},
		{"a path that can be read", "https://x.example.com/v2/mcp-server-2024-11-05/0123456789abcdef0123456789abcdef01234567", "https://x.example.com/v2/mcp-server-2024-11-05/0123456789abcdef0123456789abcdef01234567"},
		{"parameters", "https://x.example.com/mcp?a=b&api_key=c&key=d#token=e&f", "https://x.example.com/mcp?a=b&api_key=<api_key>&key=<key>#token=<token>&f"},
		{"a query without a path", "https://x.example.com?key=d", "https://x.example.com?key=<key>"},
		{"references in an address", "https://${U}:${P}@x.example.com/${A}?key=${K}", "https://${U}:${P}@x.example.com/${A}?key=${K}"},
		{"pairs of a script", "API_TOKEN=plum PW='plumjam-1' node x.js --key 1", "API_TOKEN=<API_TOKEN> PW='<PW>' node x.js --key 1"},
		{"a line", "mode: fast\npassword: plum\n", "mode: fast\npassword: <password>\n"},
		{"settings", "Server=db;Password=plum;Database=y", "Server=db;Password=<Password>;Database=y"},
		{"JSON", `{"Authorization": "Bearer plum", "V": "2"}`, `{"Authorization": "Bearer <Authorization>", "V": "2"}`},
		{"a known prefix", "x sk-abc1234567890def y", "x <> y"},
		{"a package with such a name", "npx secret-manager-mcp-server-tools sk-learn-server", "npx secret-manager-mcp-server-tools sk-learn-server"},
		{"a known prefix before short runs", "xoxb-a1-b2-c3-d4-e5", "<>"},
		{"a package with a number", "npx sk-learn-mcp-server2", "npx sk-learn-mcp-server2"},
		{"names that begin like short prefixes", "/opt/re-ImplementationServer-main/run --cluster=phx-datacenter01-prod-main --ns fc-warehouse2024-readonly-a /srv/re-Platform2024-checkout/x.js", "/opt/re-ImplementationServer-main/run --cluster=phx-datacenter01-prod-main --ns fc-warehouse2024-readonly-a /srv/re-Platform2024-checkout/x.js"},
		{"names with the sign of short prefixes", "run re_ImplementationServerMain r8_Platform2024checkout tfp_datacenter01_prod_main_east", "run re_ImplementationServerMain r8_Platform2024checkout tfp_datacenter01_prod_main_east"},
		{"short prefixes", "run --x=fc-0123456789abcdef0123456789abcdef re_FAKEfake_FAKEfake0123FAKEfake0123 /s/r8_FAKEfake0123FAKEfake0123", "run --x=<> <> /s/<>"},
		{"a user with a short prefix", "https://r8_FAKEfake0123FAKEfake0123@x.example.com https://re_PlatformServerCheckout@x.example.com", "https://<>@x.example.com https://re_PlatformServerCheckout@x.example.com"},
		{"a placeholder with digits", "sk-xxxx1234abcdefgh5678", "sk-xxxx1234abcdefgh5678"},
		{"a placeholder in JSON", `{"token": "YOUR_TOKEN"}`, `{"token": "YOUR_TOKEN"}`},
		{"turns in a path", "https://x.example.com/abcd12efgh34ijkl/abcd12efgh345678", "https://x.example.com/<path>/abcd12efgh345678"},
		{"a pair that is a reference", "password=${P} token=$T", "password=${P} token=$T"},
		{"a placeholder", "sk-xxxxxxxxxxxxxxxxxxxxxxxx token=YOUR_TOKEN", "sk-xxxxxxxxxxxxxxxxxxxxxxxx token=YOUR_TOKEN"},
		{"harmless pairs", "MAX_TOKENS=4096 KEYBOARD=us AUTHOR=ann PASSTHROUGH=1 MONKEY=1 SSH_KEY_PATH=/a/b", "MAX_TOKENS=4096 KEYBOARD=us AUTHOR=ann PASSTHROUGH=1 MONKEY=1 SSH_KEY_PATH=/a/b"},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := secrets.Replace(tt.text, func(name, _ string) string { return "${!" + name + "}" })
			if got = mark.ReplaceAllString(got, "<$1>"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestReplaceValue(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"Authorization", "Bearer plum", "Bearer <>"},
		{"Authorization", "plum", "<>"},
		{"X-Any", "Bearer plumplumjam", "Bearer <>"},
		{"X-Any", "Basic cGx1bTpqYW0=", "Basic <>"},
		{"X-Any", "Token plum-jam-7", "Token <>"},
		{"TITLE", "Key metrics of the year", "Key metrics of the year"},
		{"TITLE", "Bearer of news and letters", "Bearer of news and letters"},
		{"X-Any", "Basic cGxqYWplbmFqYWpm=", "Basic <>"},
		{"TITLE", "Basic authentication", "Basic authentication"},
		{"X-Up", "Basic dXNlcjpwYXNz", "Basic <>"},
		{"X-Up", "basic YTpi", "basic <>"},
		{"X-Up", "Basic Pz8_Ojw8Pz8-", "Basic <>"},
		{"X-Up", "Basic plumplumjam", "Basic plumplumjam"},
		{"X-Up", "ApiKey abcdefghijklmnop", "ApiKey <>"},
		{"X-Up", "Api-Key abcdefghijklmnop", "Api-Key <>"},
		{"X-Up", "Token abcdefghijklmnop", "Token <>"},
		{"X-Up", "Digest abcdefghijklmnop", "Digest <>"},
		{"X-Up", "Token ${X}", "Token ${X}"},
		{"X-Up", "Bearer ${X}", "Bearer ${X}"},
		{"X-Up", "Token <your-token>", "Token <your-token>"},
		{"X-Up", "Token YOUR_TOKEN", "Token YOUR_TOKEN"},
		{"TITLE", "Token counting is on", "Token counting is on"},
		{"TITLE", "Token limit", "Token limit"},
		{"TITLE", "Key management", "Key management"},
		{"TITLE", "Digest authentication.", "Digest authentication."},
		{"Authorization", "Bearer ${T}", "Bearer ${T}"},
		{"Authorization", "Bearer $(cat ~/.tok)", "Bearer $(cat ~/.tok)"},
		{"A", mixed, "<>"},
		{"A", "for " + mixed, "for " + mixed},
		{"A", "token=plum", "token=<token>"},
		{"", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			got := secrets.ReplaceValue(tt.name, tt.value, func(name, _ string) string { return "<" + name + ">" })
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestPieces(t *testing.T) {
	tests := []struct {
		name string
		got  []string
		want []string
	}{
		{"plain arguments", secrets.ArgPieces([]string{"-y", "@pear/server", "--port=8080", "run", `C:\pears`}), nil},
		{"option", secrets.ArgPieces([]string{"--token", "t1", "--password", "-v", "x"}), []string{"t1"}},
		{"dashed value", secrets.ArgPieces([]string{"--token", "-Plum77jam"}), []string{"-Plum77jam"}},
		{"dashed value of small letters", secrets.ArgPieces([]string{"--token", "--a1b2c3d4", "--token", "--sha256-sum"}), []string{"--a1b2c3d4"}},
		{"switch after an option", secrets.ArgPieces([]string{"--auth", "true"}), nil},
		{"pairs", secrets.ArgPieces([]string{"API_KEY=k1", "X-Auth: a1", "-e=DB_PASSWORD=p1"}), []string{"a1", "k1", "p1"}},
		{"shape", secrets.ArgPieces([]string{"sk-0123456789abcdef"}), []string{"sk-0123456789abcdef"}},
		{"shape without a prefix", secrets.ArgPieces([]string{mixed, "Pl1um2Jam3", "cGx1bTpqYW0xMjM0NTY3=="}), []string{"Pl1um2Jam3", mixed, "cGx1bTpqYW0xMjM0NTY3=="}},
		{"references", secrets.ArgPieces([]string{"--token", "${T}", "--key=***", "Authorization: Bearer ${A}"}), nil},
		{"header", secrets.Pieces("X-Key", "k1"), []string{"k1"}},
		{"bearer", secrets.Pieces("X-Key", "Bearer  b1"), []string{"Bearer  b1", "b1"}},
		{"basic", secrets.Pieces("X-Key", "Basic cGlwOnN0b25l"), []string{"Basic cGlwOnN0b25l", "cGlwOnN0b25l", "pip:stone", "stone"}},
		{"basic that is none", secrets.Pieces("X-Key", "Basic ???"), []string{"???", "Basic ???"}},
		{"address", secrets.Pieces("", "https://pears.example/mcp?page=2"), nil},
		{"parts of an address", secrets.Pieces("", "https://pip:st%40ne@pears.example/s/0123456789abcdef0123456789abcdef/mcp?key=k1#plum-1"), []string{"0123456789abcdef0123456789abcdef", "k1", "k1#plum-1", "pip:st%40ne", "pip:st@ne", "plum-1", "st%40ne", "st@ne"}},
		{"parameters", secrets.Pieces("", "https://pears.example?x=plum-9&y=Pl;um-7&pl12um34ja56"), []string{"Pl;um-7", "pl12um34ja56", "plum-9"}},
		{"parameters between semicolons", secrets.Pieces("", "https://pears.example?x=1;token=t1"), []string{"1;token=t1", "t1"}},
		{"token in a fragment", secrets.Pieces("", "https://pears.example/#token=t1"), []string{"t1", "token=t1"}},
		{"user only", secrets.Pieces("", "https://u1@pears.example"), []string{"u1"}},
		{"an address of references", secrets.Pieces("", "https://${H}/x?key=${K}"), nil},
		{"a path", secrets.Pieces("", "/mcp"), nil},
		{"none", secrets.Pieces("", ""), nil},
		{"a word", secrets.Pieces("", "plum"), nil},
		{"a shape", secrets.Pieces("", "Pl1um2Jam3"), []string{"Pl1um2Jam3"}},
		{"a name", secrets.Pieces("TOKEN", "plum"), []string{"plum"}},
		{"a list", secrets.Pieces("TOKENS", "plum-one,plum-two"), []string{"plum-one", "plum-one,plum-two", "plum-two"}},
		{"a harmless value", secrets.Pieces("MODE", "fast and quick"), nil},
		{"JSON in JSON", secrets.Pieces("", `{"a":["{\"token\":\"plum\"}", 1, null]}`), []string{"plum"}},
		{"a pair of two members", secrets.Pieces("", `[{"name":"api_key","value":"plum-jam"}]`), []string{"plum-jam"}},
		{"JSON after braces", secrets.Pieces("", `{x} [y] {"token":"plum"}`), []string{"plum", "plum}"}},
		{"a login", secrets.Pieces("", "pip:Plum2Plumjam@tcp(orchard)/pears"), []string{"Plum2Plumjam"}},
		{"a list with a common word", secrets.Pieces("ACME_SECRET", "default,plum-jam"), []string{"default,plum-jam", "plum-jam"}},
		{"a port before a sign", secrets.Pieces("", "orchard:8080@x"), nil},
		{"an address with a sign", secrets.Pieces("", "https://x.example.com/a@b"), nil},
		{"in braces", secrets.Pieces("", "Server=db;Password={Zq81;xLmP77};Database=y"), []string{"Zq81;xLmP77", "xLmP77", "{Zq81"}},
		{"deep", secrets.Pieces("", strings.Repeat("[", 50)+`{"token":"plum"}`), []string{"plum"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, unique(tt.got)); diff != "" {
				t.Errorf("pieces (-want +got):\n%s", diff)
			}
		})
	}
}
