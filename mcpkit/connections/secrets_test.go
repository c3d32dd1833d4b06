package connections_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/mcpkit/internal/wiretest"
)

// TestSecretsOfAText checks that a secret is found wherever people put one, and
// that what is none is left alone.
func TestSecretsOfAText(t *testing.T) {
	t.Parallel()
	const (
		jwt   = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhY21lIn0.c2lnbmF0dXJlCANARY"
		mixed = "Zq7Vt2Lm9Rx4Kc8Wb3Nd6Hf1"
	)
	tests := []struct {
		name   string
		entry  string // of the server "acme files"
		hidden string // what must be nowhere
		want   string // in the reply
	}{
		{"a variable", `{"command":"x","env":{"API_TOKEN":"canary-1"}}`, "canary-1", `"API_TOKEN":"${API_TOKEN}"`},
		{"a short one", `{"command":"x","env":{"DB_PASSWORD":"c4"}}`, `"c4"`, `"DB_PASSWORD":"${DB_PASSWORD}"`},
		{"a variable with a number", `{"command":"x","env":{"KEYS_2":"canary-1,canary-2"}}`, "canary-", `"KEYS_2":"${KEYS_2}"`},
		{"a variable of another name", `{"command":"x","env":{"MODE":"` + mixed + `"}}`, mixed, `"MODE":"${MODE}"`},
		{"a name that no variable has", `{"command":"x","env":{"my-token":"canary-1"}}`, "canary-1", `"my-token":"${ACME_FILES_MY_TOKEN}"`},
		{"a header", `{"url":"https://x.example.com/mcp","headers":{"Authorization":"Bearer canary-1"}}`, "canary-1", `"Authorization":"Bearer ${ACME_FILES_AUTHORIZATION}"`},
		{"a header of a vendor", `{"url":"https://x.example.com/mcp","headers":{"X-Acme-Api-Key":"canary-1"}}`, "canary-1", `"X-Acme-Api-Key":"${ACME_FILES_X_ACME_API_KEY}"`},
		{"a cookie", `{"url":"https://x.example.com/mcp","headers":{"Cookie":"sid=canary-1; a=b"}}`, "canary-1", `"Cookie":"${ACME_FILES_COOKIE}"`},
		{"an option and its value", `{"command":"x","args":["--api-key","canary-1","run"]}`, "canary-1", `["--api-key","${ACME_FILES_API_KEY}","run"]`},
		{"an option with its value", `{"command":"x","args":["--token=canary-1"]}`, "canary-1", `["--token=${ACME_FILES_TOKEN}"]`},
		{"an option with a pair", `{"command":"docker","args":["run","--env=SECRET=canary-1","-e","PW=canary-2","acme/x:latest"]}`, "canary-", `"--env=SECRET=${ACME_FILES_SECRET}","-e","PW=${ACME_FILES_PW}","acme/x:latest"`},
		{"a header in an argument", `{"command":"x","args":["-H","Authorization: Bearer canary-1"]}`, "canary-1", `"Authorization: Bearer ${ACME_FILES_AUTHORIZATION}"`},
		{"a header without a blank", `{"command":"npx","args":["mcp-remote","https://x.example.com/mcp","--header","X-Key:canary-1"]}`, "canary-1", `"X-Key:${ACME_FILES_X_KEY}"`},
		{"an argument of its own", `{"command":"x","args":["` + mixed + `"]}`, mixed, `["${ACME_FILES}"]`},
		{"a script", `{"command":"sh","args":["-c","API_TOKEN=canary-1 PW='canary-2' node x.js --key 1"]}`, "canary-", `API_TOKEN=${ACME_FILES_API_TOKEN} PW='${ACME_FILES_PW}' node x.js --key 1`},
		{"JSON in a text", `{"command":"x","env":{"OPENAPI_HEADERS":"{\"Authorization\": \"Bearer canary-1\", \"V\": \"2\"}"}}`, "canary-1", `Bearer ${ACME_FILES_AUTHORIZATION}`},
		{"a parameter", `{"url":"https://x.example.com/mcp?a=b&api_key=canary-1#token=canary-2"}`, "canary-", `?a=b&api_key=${ACME_FILES_API_KEY}#token=${ACME_FILES_TOKEN}`},
		{"a short parameter", `{"url":"https://x.example.com/mcp?key=c4"}`, "c4", `?key=${ACME_FILES_KEY}`},
		{"a password before the host", `{"url":"https://u:canary-1@x.example.com/mcp"}`, "canary-1", `https://u:${ACME_FILES_PASSWORD}@x.example.com/mcp`},
		{"a token before the host", `{"url":"https://` + mixed + `@x.example.com/mcp"}`, mixed, `https://${ACME_FILES}@x.example.com/mcp`},
		{"a part of a path", `{"url":"https://x.example.com/s/` + mixed + `/mcp"}`, mixed, `/s/${ACME_FILES_PATH}/mcp`},
		{"a short part of a path", `{"url":"https://x.example.com/s/Ab12cd34Ef56gh78/mcp"}`, "Ab12cd34Ef56gh78", `/s/${ACME_FILES_PATH}/mcp`},
		{"an id in a path", `{"url":"https://x.example.com/s/123e4567-e89b-12d3-a456-426614174000/mcp"}`, "426614174000", `/s/${ACME_FILES_PATH}/mcp`},
		{"a value with a dash", `{"command":"x","args":["--token","-Zq81xLmP77","--access-token-value","--Zq81xLmP78","--secret","-ab12345678"]}`, "q81xLmP7", `["--token","${ACME_FILES_TOKEN}","--access-token-value","${ACME_FILES_ACCESS_TOKEN_VALUE}","--secret","${ACME_FILES_SECRET}"]`},
		{"a database", `{"command":"x","args":["postgres://u:canary-1@db.example.com/x"],"env":{"DSN":"host=h password=canary-2"}}`, "canary-", `"postgres://u:${ACME_FILES_PASSWORD_2}@db.example.com/x"`},
		{"a known shape", `{"command":"x","args":["ghp_0123456789abcdefghij"],"env":{"A":"x sk-abc1234567890def y"}}`, "0123456789", `"A":"x ${ACME_FILES_A} y"`},
		{"a web token", `{"command":"x","args":["` + jwt + `"]}`, "CANARY", `${ACME_FILES}`},
		{"a private key", `{"command":"x","env":{"PEM":"-----BEGIN PRIVATE KEY-----\ncanary-1\n-----END PRIVATE KEY-----\n"}}`, "canary-1", `"PEM":"${PEM}"`},
		{"OAuth", `{"url":"https://x.example.com/mcp","oauth":{"clientId":"id","clientSecret":"canary-1"}}`, "canary-1", `${ACME_FILES_CLIENT_SECRET}`},
		{"the same one twice", `{"command":"x","args":["--password","canary-1"],"env":{"NAME":"for canary-1"}}`, "canary-1", `"NAME":"for ${ACME_FILES_PASSWORD}"`},
		{"two of one name", `{"command":"x","args":["--token","canary-1","--token","canary-2"]}`, "canary-", `["--token","${ACME_FILES_TOKEN}","--token","${ACME_FILES_TOKEN_2}"]`},
		{"a name that the entry reads itself", `{"command":"x","args":["${TOKEN}"],"env":{"TOKEN":"canary-1"}}`, "canary-1", `"env":{"TOKEN":"${ACME_FILES_TOKEN}"}`},

		{"a password that is a number", `{"command":"x","env":{"DB_PASSWORD":"4711"},"args":["--smtp-pass","c4x"]}`, "4711", `"--smtp-pass","${ACME_FILES_SMTP_PASS}"`},
		{"a name with more behind", `{"command":"x","env":{"API_KEY_PROD":"c4","PRIVATE_KEY_BASE64":"Y2FuYXJ5"}}`, "Y2FuYXJ5", `"API_KEY_PROD":"${API_KEY_PROD}"`},
		{"a prefix that is not known", `{"command":"x","args":["acme_live_k3x9m2p7q4w8z1v6b5n0t3r8"]}`, "k3x9m2p7", `["${ACME_FILES}"]`},
		{"a private key in a script", `{"command":"sh","args":["-c","KEY='-----BEGIN PRIVATE KEY-----\ntoken=canary-1\n-----END PRIVATE KEY-----' run"]}`, "canary-1", `KEY='${ACME_FILES}' run`},

		{"a word that is a password", `{"command":"npx","args":["server-postgres"],"env":{"PGPASSWORD":"postgres"}}`, `:"postgres"`, `["server-postgres"]`},
		{"references", `{"command":"x","args":["--token","${A}","--key=$B"],"env":{"TOKEN":"${env:C}","KEY":"pre-${D}"},"disabled":true}`, "_2", `["--token","${A}","--key=$B"],"env":{"KEY":"pre-${D}","TOKEN":"${C}"}`},
		{"placeholders", `{"command":"x","env":{"API_KEY":"YOUR_API_KEY","TOKEN":"<your-token>"},"args":["--token","sk-xxxxxxxxxxxxxxxxxxxxxxxx"]}`, "${", `"API_KEY":"YOUR_API_KEY","TOKEN":"<your-token>"`},
		{"placeholders in other places", `{"url":"https://x.example.com/mcp?key=YOUR_KEY","headers":{"Authorization":"Bearer $(cat ~/.tok)","X-Api-Key":"[your key]","X-Token":"Bearer YOUR_TOKEN"}}`, "${", `?key=YOUR_KEY`},
		{"switches and small numbers", `{"command":"x","args":["--auth","true"],"env":{"MAX_TOKENS":"4096","USE_TOKEN":"true"}}`, "${", `"MAX_TOKENS":"4096"`},
		{"names that end otherwise", `{"command":"x","env":{"KEYBOARD":"us-international","AUTHOR":"ann-of-acme","PASSTHROUGH":"everything","MONKEY":"bananas-all-day","SSH_KEY_PATH":"/home/ann/.ssh/id"}}`, "${", `"MONKEY":"bananas-all-day"`},
		{"files of secrets", `{"command":"x","args":["--key","/etc/acme/key.pem"],"env":{"GOOGLE_APPLICATION_CREDENTIALS":"/home/ann/account.json","SSH_KEY":"~/.ssh/id_ed25519"}}`, "${", `"--key","/etc/acme/key.pem"`},
		{"sentences", `{"command":"x","env":{"TITLE":"Key metrics of the year","HELP":"Basic authentication"},"args":["npx","secret-manager-mcp-server-tools"]}`, "${", `"TITLE":"Key metrics of the year"`},
		{"names of models, commits and images", `{"command":"x","args":["--model","claude-sonnet-4-5-20250929","acme/mcp-token:latest","git+https://x.example.com/a@0123456789abcdef0123456789abcdef01234567"],"env":{"ID":"123e4567-e89b-12d3-a456-426614174000"}}`, "${", `"acme/mcp-token:latest"`},
		{"options after an option", `{"command":"x","args":["--use-token","--http2-only","--token","--sha256-sum","-v"]}`, "${", `["--use-token","--http2-only","--token","--sha256-sum","-v"]`},
		{"a path that can be read", `{"url":"https://x.example.com/v2/mcp-server-2024-11-05/0123456789abcdef0123456789abcdef01234567"}`, "${", `/v2/mcp-server-2024-11-05/`},
		{"a key that is none", `{"command":"x","args":["--sort-key","created_at","monkey=1","--auth","kerberos"]}`, "${", `["--sort-key","created_at","monkey=1","--auth","kerberos"]`},
	}
	d := newDesk(t)
	p := wiretest.Dial(t, d.server(t), wiretest.Stateless, "codex")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"mcpServers":{"acme files":` + tt.entry + `}}`
			got := p.Call(t, "normalize_config", encode(t, m{"text": text}))
			reply := unescape.Replace(got.JSON())
			if strings.Contains(reply, tt.hidden) {
				t.Errorf("%q is in %s", tt.hidden, reply)
			}
			if !strings.Contains(reply, tt.want) {
				t.Errorf("no %s in %s", tt.want, reply)
			}
		})
	}
	d.absent(t, "canary-")
}

// unescape undoes what makes JSON safe in web pages.
var unescape = strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">")

func encode(tb testing.TB, v any) string {
	tb.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}
