// dapr-control contains the programs of Dapr's control plane. The name of the command selects the program.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	injector "github.com/dapr/dapr/cmd/injector/app"
	operator "github.com/dapr/dapr/cmd/operator/app"
	placement "github.com/dapr/dapr/cmd/placement/app"
	scheduler "github.com/dapr/dapr/cmd/scheduler/app"
	sentry "github.com/dapr/dapr/cmd/sentry/app"
)

var programs = map[string]func(){
	"injector":  injector.Run,
	"operator":  operator.Run,
	"placement": placement.Run,
	"scheduler": scheduler.Run,
	"sentry":    sentry.Run,
}

func main() {
	name := filepath.Base(os.Args[0])
	run, found := programs[name]
	if !found {
		fmt.Fprintf(os.Stderr, "dapr-control contains no program %s\n", name)
		os.Exit(2)
	}
	run()
}
