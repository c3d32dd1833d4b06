module github.com/mcpcontract/mcpcontract/internal/bench

go 1.26.5

require (
	github.com/a8m/envsubst v1.4.3
	github.com/buildkite/interpolate v0.1.5
	github.com/drone/envsubst v1.0.3
	github.com/mcpcontract/mcpcontract v0.0.0
)

require gopkg.in/yaml.v3 v3.0.1 // indirect

replace github.com/mcpcontract/mcpcontract => ../..
