package secrets_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

// What a row of the table expects.
const (
	no   = iota // not a secret
	may         // for people only
	must        // for both levels
)

// pairsTable are names and values as real configurations have them, with invented
// values.
var pairsTable = []struct {
	name, value string
	want        int
}{
	// Names that always hold a secret.
	{"API_KEY", "hunter2", must},
	{"APIKEY", "abc", must},
	{"apiKey", "abc", must},
	{"x-api-key", "abc", must},
	{"X-Api-Key", "abc", must},
	{"--api-key", "abc", must},
	{"OPENAI_API_KEY", "short1", must},
	{"ACME_API_KEY_2", "short1", must},
	{"API_KEYS", "one,two", must},
	{"KEYS_2", "canary-1,canary-2", must},
	{"API_KEY_PROD", "abc", must},
	{"STRIPE_SECRET_KEY_LIVE", "abc", must},
	{"AWS_SECRET_ACCESS_KEY", "FAKE/fake+FAKE", must},
	{"AWS_ACCESS_KEY", "abc", must},
	{"PRIVATE_KEY_BASE64", "ZmFrZQ==", must},
	{"SIGNING_KEY", "abc", must},
	{"ENCRYPTION_KEY", "abc", must},
	{"MASTER_KEY", "abc", must},
	{"LICENSE_KEY", "AAAA-BBBB", must},
	{"SUPABASE_SERVICE_KEY", "abc", must},
	{"GITHUB_TOKEN", "tok-1", must},
	{"GITHUB_PERSONAL_ACCESS_TOKEN", "abc", must},
	{"githubToken", "abc", must},
	{"authtoken", "abc", must},
	{"access-token-value", "plum-jam", must},
	{"accessTokenValue", "plum-jam", must},
	{"REFRESH_TOKEN", "abc", must},
	{"API_TOKENS", "plum-one,plum-two", must},
	{"HF_TOKEN", "abc", must},
	{"SLACK_BOT_TOKEN", "abc", must},
	{"CLIENT_SECRET", "abc", must},
	{"clientSecret", "canary-1", must},
	{"JWT_SECRET", "abc", must},
	{"WEBHOOK_SECRET", "abc", must},
	{"SECRETS", "abc", must},
	{"DB_PASSWORD", "c4", must},
	{"DB_PASSWORD", "1234", must},
	{"PGPASSWORD", "postgres", must},
	{"MYSQL_ROOT_PASSWORD", "root", must},
	{"SMTP_PASS", "abc123", must},
	{"DB_PASS", "plum", must},
	{"DB_PWD", "abc", must},
	{"MYSQLPWD", "abc", must},
	{"SSH_PASSPHRASE", "correct horse", must},
	{"WALLET_MNEMONIC", "plum jam pear", must},
	{"passcode", "4711", must},
	{"passwd", "abc", must},
	{"Authorization", "plum", must},
	{"Proxy-Authorization", "plum", must},
	{"Cookie", "sid=plum", must},
	{"AUTH_COOKIE", "a=b", must},
	{"GOOGLE_CREDENTIALS", `{"a":"b"}`, must},
	{"CREDENTIALS_JSON", "{}", must},
	{"BEARER", "abc", must},
	{"AUTH_JWT", "abc", must},
	{"/run/secrets/token", "abc", must},

	// Names that hold one if the value can be one.
	{"X_KEY", "plumjam-1", must},
	{"VAULT_KEY", "vk-456", may},
	{"KEY", "12345678", must},
	{"--key", "1", may},
	{"ACME_AUTH", "plum-jam-7", must},
	{"AUTH", "basic", may},
	{"AUTH", "kerberos", may},
	{"X-Signature", "abcdef01", must},
	{"SESSION", "plumjam-1", must},
	{"SESSION", "production", may},
	{"sid", "plumjam-1", must},
	{"ACME_PAT", "plumjam-1", must},
	{"TEST_PIN", "12", may},
	{"LED_PIN", "13", may},
	{"CREDS", "admin:plum", must},
	{"PWD", "/home/ann/work", may},
	{"PW", "canary-2", must},
	{"TOTP", "JBSWFAKEFAKE", must},
	{"SEED_PHRASE", "plum jam pear", must},
	{"COOKIE_SALT", "plum-jam-7", must},
	{"OAUTH", "plum-jam-7", must},
	{"recoveryPhrase", "plum jam pear", must},
	{"SEARCH_PHRASE", "hey jarvis please listen", may},
	{"SALT", "himalayan", may},
	{"SALT", "1234567", may},
	{"OAUTH", "keycloak-realm", may},
	{"OAUTH_DEFAULT", "plum-jam-7", may},
	{"COOKIE_HASH_KEY", "plum-jam-7", must},
	{"x-functions-key", "plum-jam-7", must},
	{"Ocp-Apim-Subscription-Key", "abc", must},
	{"AccountKey", "abc==", must},
	{"--header=X-Key", "plumjam-1", must},
	{"RANDOM_SEED", "1234", may},
	{"tokenvalue", "abc", must},
	{"myAuth", "plum-jam-7", must},
	{"HTTPAuth", "plum-jam-7", must},
	{"BY_PASS", "abc", may},
	{"TOKEN", "4096", may},
	{"PASSWORD", "1", may},
	{"value", "abc", no},

	// Names that say otherwise, or values that do.
	{"MAX_TOKENS", "4096", no},
	{"MAX_TOKENS", "123456789", may},
	{"MAX_TOKEN", "4096", no},
	{"USE_TOKEN", "true", no},
	{"USE_TOKEN", "1", no},
	{"--no-auth", "production-db", may},
	{"NO_PASSWORD", "serve-it", may},
	{"USE_TOKEN", "abc123de", must},
	{"TOKEN", "", no},
	{"TOKEN", "none", no},
	{"API_KEY", "null", no},
	{"KEYBOARD", "us", no},
	{"AUTHOR", "ann", no},
	{"PASSTHROUGH", "1", no},
	{"MONKEY", "1", no},
	{"MONKEY", "bananas-and-more", no},
	{"TURKEY", "istanbul", no},
	{"TOKENIZER", "cl100k", no},
	{"TOKEN_LIMIT", "12345678", no},
	{"SECRETARY", "ann-ann-ann", no},
	{"PASSWORD_FILE", "/run/secrets/db", no},
	{"SSH_KEY_PATH", "/a/b", no},
	{"KEY_ID", "abcd-efgh", no},
	{"AWS_REGION", "eu-west-1", no},
	{"COMPASS", "north-north", may},
	{"OLDPWD", "/home/ann/work", may},
	{"SENTRY_DSN", "https://sentry.example/1", may},
	{"SSH_KEY", "/home/ann/.ssh/id_ed25519", may},
	{"SSH_KEY", "~/.ssh/id_rsa", may},
	{"TLS_KEY", "server.key", may},
	{"GOOGLE_APPLICATION_CREDENTIALS", "/home/ann/key.json", may},
	{"TOKEN", "/run/secrets/acme", may},
	{"TOKEN", "/Zq7Vt2Lm9Rx4Kc8W/b", must},
	{"COOKIES", `C:\ann\cookies.txt`, may},
	{"GOOGLE_APPLICATION_CREDENTIALS", "/a/key.json", may},
	{"GOOGLE_APPLICATION_CREDENTIALS", "serviceAccountKey.json", may},
	{"GOOGLE_APPLICATION_CREDENTIALS", "/home/ann/MyProject-A1b2/key.json", may},
	{"GOOGLE_APPLICATION_CREDENTIALS", "/data1/Shared Files/.keys/acme-prod-20241105.json", may},
	{"SSH_KEY", "~/.ssh/id_ed25519", may},
	{"API_KEY", "~/.ssh/id_ed25519", may},
	{"TLS_KEY", "/run/secrets/tls.key", may},
	{"PRIVATE_KEY", "./Certs/tlsKey2.PEM/key.pem", may},
	{"TOKEN", `D:\Ann\A1b2\tok`, may},
	{"AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzQ8LmN2", must},
	{"API_TOKEN", "/AbCdEfGh/IjKlMnOp/QrStUvWx", must},
	{"XTOKEN", "A1b2C3d4.db", must},
	{"XTOKEN", "/a1b2c3/plum.key", must},
	{"PASSWORD", "/a/b", must},
	{"SORT_KEY", "created_at", may},
	{"--sort-key", "name", may},
	{"PRIMARY_KEY", "account_id", may},
	{"PUBLIC_KEY", "plumjam-1", may},
	{"publicKey", "plumjam-1", may},
	{"HOTKEY", "ctrl+shift+p", may},
	{"KEY_TEXT", "press any key", may},
	{"", "plum", no},

	// Values that stand in for one.
	{"API_KEY", "${API_KEY}", may},
	{"API_KEY", "$API_KEY", may},
	{"API_KEY", "YOUR_API_KEY", may},
	{"API_KEY", "<your-token>", may},
	{"TOKEN", "sk-xxxxxxxxxxxxxxxxxxxxxxxx", may},
	{"TOKEN", "$(cat ~/.tok)", may},

	// Shapes under names that say nothing.
	{"A", "sk-abc1234567890def", must},
	{"A", "sk-ant-FAKE01-fakefakeFAKE99fake", must},
	{"A", "sk_live_FAKEfake0123FAKE", must},
	{"A", "ghp_FAKEfake0123FAKEfake", must},
	{"A", "github_pat_FAKEfake0123_FAKEfake", must},
	{"A", "glpat-FAKEfake0123FAKE", must},
	{"A", "xoxb-000000000000-FAKEfake0123", must},
	{"A", "AKIAFAKEFAKE0123FAKE", must},
	{"A", "AIzaFAKEfake0123FAKEfake0123", must},
	{"A", "hf_FAKEfake0123FAKEfake", must},
	{"A", "gsk_FAKEfake0123FAKEfake", must},
	{"A", "npm_FAKEfake0123FAKEfake", must},
	{"A", "xai-FAKEfake0123FAKEfake", must},
	{"A", "tvly-FAKEfake0123FAKEfake", must},
	{"A", "shpat_FAKEfake0123FAKEfake", must},
	{"A", "dckr_pat_FAKEfake0123FAKEfake", must},
	{"A", "lin_api_FAKEfake0123FAKEfake", must},
	{"A", "nvapi-FAKEfake0123FAKEfake", must},
	{"A", "pcsk_FAKEfake0123FAKEfake", must},
	{"A", "hvs.FAKEfake0123FAKEfake", must},
	{"A", "re_FAKEfake_FAKEfake0123FAKEfake0123", must},
	{"A", "re_FAKEfake0123FAKEfake", must},
	{"A", "r8_FAKEfake0123FAKEfake0123FAKEfake0123F", must},
	{"A", "e2b_0123456789abcdef0123456789abcdef01234567", must},
	{"A", "fc-0123456789abcdef0123456789abcdef", must},
	{"A", "phx_k3x9m2p7q4w8z1v6b5n0", must},
	{"A", "fo1_FAKEfake0123FAKEfake-FAKE_fake0123", must},
	{"A", "secret_FAKEfake0123FAKEfake", must},
	{"A", "phx-datacenter01-prod-main", no},
	{"A", "fc-warehouse2024-readonly-a", no},
	{"A", "tfp_datacenter01_prod_main_east", no},
	{"A", "/opt/re-ImplementationServer-main/run", no},
	{"A", "SG.FAKEfake0123.FAKEfake0123", must},
	{"A", "eyJGQUtFIjoxfQ.eyJmYWtlIjoxfQ.ZmFrZWZha2U", must},
	{"A", "-----BEGIN PRIVATE KEY-----\nFAKE\n-----END PRIVATE KEY-----", must},
	{"A", "Zq7Vt2Lm9Rx4Kc8Wb3Nd6Hf1", must},
	{"A", "0123456789abcdef0123456789abcdef", must},
	{"A", "acme_live_0123456789abcdef0123456789abcdef", must},
	{"A", "k3x9m2p7q4w8z1v6b5n0t3r8", must},
	{"A", "acme-server-0123456789abcdef0123456789abcdef01234567", may}, // a commit
	{"A", "0123456789abcdef01234567", may},                             // an id of a document
	{"A", "/Users/Ann/Projects/MCP2024/server", no},
	{"A", "/nix/store/k3x9m2p7q4w8z1v6b5n0t3r8aaaaaaaa-notes/bin/notes", may},
	{"A", "99999999999999999999999999999999", may},
	{"A", "ABCabcDEFdefGHIghiJKLjkl", no},
	{"A", "sk-abcdefghijklmnop", may},
	{"A", "notes/x.plumplumplum12", no},
	{"TOKEN", "/abc", must},
	{"A", "Pl1um2Jam3", may},
	{"A", "SECRETPATHTOKEN1234", may},
	{"A", "0123456789abcdef0123456789abcdef01234567", may},           // a commit
	{"A", "123e4567-e89b-12d3-a456-426614174000", may},               // an id
	{"A", "secret-manager-mcp-server-tools", no},                     // a package
	{"A", "claude-sonnet-4-5-20250929", no},                          // a model
	{"A", "mcp-server-2024-11-05", no},                               // a version
	{"A", "2024-11-05T10:15:00", no},                                 // a time
	{"A", "/usr/local/lib/node_modules/@acme/notes/dist/cli.js", no}, // a path
	{"A", "https://notes.example/mcp", no},
	{"A", "read,write,admin", no},
	{"A", "8080", no},
}

func TestLevels(t *testing.T) {
	for _, tt := range pairsTable {
		t.Run(tt.name+"="+tt.value, func(t *testing.T) {
			if got := secrets.Is(tt.name, tt.value); got != (tt.want == must) {
				t.Errorf("Is: %v", got)
			}
			if got := secrets.May(tt.name, tt.value); got != (tt.want != no) {
				t.Errorf("May: %v", got)
			}
		})
	}
}

// TestRandom has the values of secrets that are drawn. Those that are made like paths,
// with slashes or an ending where chance has put none, may be missed more often: some
// draws are words.
func TestRandom(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	random := rand.New(rand.NewPCG(1, 2))
	drawn, drawnPaths := 0, 0
	var missed, missedPaths []string
	sealed := func(value string) bool { return secrets.Is("AWS_SECRET_ACCESS_KEY", value) }
	for range 4_000 {
		for _, length := range []int{16, 20, 40} {
			value := make([]byte, length)
			for i := range value {
				value[i] = alphabet[random.IntN(len(alphabet))]
			}
			slashed := []byte(strings.ReplaceAll(string(value), "+", "p"))
			slashed[0], slashed[1+random.IntN(length-1)] = '/', '/'
			drawn++
			if !sealed(string(value)) {
				missed = append(missed, string(value))
			}
			if drawn%4 != 0 { // they cost more
				continue
			}
			for _, v := range []string{string(slashed), string(value[:length-4]) + ".key"} {
				drawnPaths++
				if !sealed(v) {
					missedPaths = append(missedPaths, v)
				}
			}
		}
	}
	t.Logf("%d of %d are missed: %q", len(missed), drawn, missed)
	if len(missed) > 3 {
		t.Error("too many are missed")
	}
	t.Logf("%d of %d like paths are missed: %q", len(missedPaths), drawnPaths, missedPaths)
	if len(missedPaths) > 6 {
		t.Error("too many like paths are missed")
	}
}

// TestNoted holds the words of the notes.
func TestNoted(t *testing.T) {
	for name, want := range map[string][2]bool{ // by name, and as a parameter
		"API_KEY": {true, true}, "token": {true, true}, "Authorization": {true, true}, "proxy-authorization": {true, true}, "COOKIE": {true, true},
		"pgpassword": {true, true}, "PASSWD": {true, true}, "CLIENT_SECRET": {true, true}, "MONKEY": {true, true},
		"sig": {false, true}, "Auth": {false, true}, "pat": {false, true}, "credentials": {false, true},
		"API_TOKENS": {}, "PASSPHRASE": {}, "MODE": {}, "": {}, "key_id": {}, "code": {},
	} {
		if got := [2]bool{secrets.Noted(name), secrets.NotedParameter(name)}; got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"API_KEY": true, "DB_PASS": true, "session": true, "X-Key": true, "--token": true, "KEY_2": true,
		"": false, "MODE": false, "MONKEY": false, "SORT_KEY": false, "NO_AUTH": false, "KEYBOARD": false, "TOKEN_FILE": false,
	} {
		if got := secrets.Named(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestCommon(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "a1!": true, " abc ": true, "error": true, "ERROR": true, "Error": true, "8080": true, "127.0.0.1:80": true, "2024-11-05": true, "development": true,
		"plumplumjam": false, "eRror": false, "123456789": false, "plum-7": false,
	} {
		if got := secrets.Common(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

func TestParameters(t *testing.T) {
	for pair, want := range map[string]bool{
		"key=c4": true, "code=abc": true, "sig=x": true, "api_key=k": true, "token=k": true, "auth=true": false, "key=${K}": false, "key=123": false,
		"mode=fast": false, "page=2": false, "KEY=c4": true, "x=Zq7Vt2Lm9Rx4Kc8Wb3Nd6Hf1": true, "token=": false, "session=short": false,
	} {
		name, _, _ := strings.Cut(pair, "=")
		address := "https://x.example.com/?" + pair
		got := secrets.Replace(address, func(string, string) string { return "${A}" })
		if (got != address) != want || want && got != "https://x.example.com/?"+name+"=${A}" {
			t.Errorf("%s: %s", pair, got)
		}
	}
}

func TestIsOperand(t *testing.T) {
	for arg, want := range map[string]bool{
		"-Plum77jam": true, "--Plum77jam": true, "--a1b2c3d4": true, "-ab12345678": true, "-12345678": false,
		"--http2-only": false, "--sha256-sum": false, "-v": false, "--Use1=Plum77jam": false, "--PLUM-JAM": false, "": false,
		"plum": true, "plum-jam": true, " -v": true,
	} {
		if got := secrets.IsOperand(arg); got != want {
			t.Errorf("%s: %v", arg, got)
		}
	}
}
