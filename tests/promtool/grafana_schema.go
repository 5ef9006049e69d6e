// Reads a dashboard by Grafana's own schema, which its SDK is generated from. A member that the schema does not know, one
// that is missing or one of another type is an error.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	raw, err := io.ReadAll(os.Stdin)
	refuse(err)
	read := dashboard.NewDashboard()
	refuse(read.UnmarshalJSONStrict(raw))
	refuse(read.Validate())
}

// The SDK returns an empty list of errors where it means none.
func refuse(err error) {
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
