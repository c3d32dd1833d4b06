package connections

import "github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"

// Codes of this package. Those of the parts below reach the client as they are:
// probe_failed, probe_timeout and spawn_failed of package probe, what package
// lookup, normalize, vault and token say.
const (
	// CodeNoServers answers a text that declares no server.
	CodeNoServers = "no_servers"
	// CodeNameRequired answers a text that declares several servers where the
	// request names none of them. The details list the names.
	CodeNameRequired = "name_required"
	// CodeNameInvalid answers a name that cannot be that of a connection.
	CodeNameInvalid = "name_invalid"
	// CodeServerExists answers the registration of a name that is taken, without
	// replace.
	CodeServerExists = "server_exists"
	// CodeServerUnknown answers a name that no connection has.
	CodeServerUnknown = "server_unknown"
	// CodeServerInherited answers the removal of a connection that belongs to a
	// profile above.
	CodeServerInherited = "server_inherited"
	// CodeLookupDisabled answers a reference where nothing can look it up.
	CodeLookupDisabled = "lookup_disabled"
	// CodePasteExpired answers a token whose text is no longer kept.
	CodePasteExpired = "paste_expired"
	// CodeRecordInvalid answers a record of the vault that has the name of one of
	// this package and is none.
	CodeRecordInvalid = "record_invalid"
	// CodeTooLarge answers a text that is over the limit of a registration.
	CodeTooLarge = "too_large"
	// CodeTooManySecrets answers a server that has more secrets in clear than a
	// registration takes.
	CodeTooManySecrets = "too_many_secrets"
	// CodeSnapshotChanged answers a cursor of a list that has changed since.
	CodeSnapshotChanged = paging.CodeSnapshotChanged
)
