// The cert-manager webhook, from the root module's packages (see controller/main.go for why).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
)

func main() {
	logf.InitLogs()
	defer logf.FlushLogs()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager webhook:", err)
		logf.FlushLogs()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	settings, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	options.AddConfigFlags(flags, settings)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := logf.ValidateAndApply(&settings.Logging); err != nil {
		return err
	}
	log := logf.Log.WithName("webhook")
	server, err := webhook.NewCertManagerWebhookServer(log, *settings)
	if err != nil {
		return err
	}
	return server.Run(logf.NewContext(ctx, log))
}
