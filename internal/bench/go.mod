module github.com/mcpcontract/mcpcontract/internal/bench

go 1.26.5

require (
	github.com/a8m/envsubst v1.4.3
	github.com/aymanbagabas/go-udiff v0.4.1
	github.com/buildkite/interpolate v0.1.5
	github.com/drone/envsubst v1.0.3
	github.com/mcpcontract/mcpcontract v0.0.0
	github.com/rogpeppe/go-internal v1.16.0
	github.com/sergi/go-diff v1.4.0
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/mcpcontract/mcpcontract => ../..
