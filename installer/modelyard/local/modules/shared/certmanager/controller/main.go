// The cert-manager controller, from the root module's packages.
//
// Upstream's own cmd/controller is a Go module of its own that the module proxy does not carry. This main
// reads the same configuration type with upstream's own defaults and takes the flags that the release's
// manifest sets.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"

	config "github.com/cert-manager/cert-manager/internal/apis/config/controller"
	configscheme "github.com/cert-manager/cert-manager/internal/apis/config/controller/scheme"
	defaults "github.com/cert-manager/cert-manager/internal/apis/config/controller/v1alpha1"
	"github.com/cert-manager/cert-manager/modelyard/leader"
	configv1alpha1 "github.com/cert-manager/cert-manager/pkg/apis/config/controller/v1alpha1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/healthz"
	// Issuers register themselves when their packages are imported.
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/vault"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/venafi"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

const leaseName = "cert-manager-controller"

func main() {
	logf.InitLogs()
	defer logf.FlushLogs()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager controller:", err)
		logf.FlushLogs()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	settings, err := configuration(args)
	if err != nil {
		return err
	}
	if err := logf.ValidateAndApply(&settings.Logging); err != nil {
		return err
	}
	ctx = logf.NewContext(ctx, logf.Log.WithName("controller"))
	options, err := contextOptions(settings)
	if err != nil {
		return err
	}
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	base, err := factory.Build()
	if err != nil {
		return err
	}
	// As upstream's main: without these, metrics say nothing of certificates.
	base.Metrics.SetupACMECollector(base.SharedInformerFactory.Acme().V1().Challenges().Lister())
	base.Metrics.SetupCertificateCollector(base.SharedInformerFactory.Certmanager().V1().Certificates().Lister())
	health := healthz.NewServer(settings.LeaderElectionConfig.HealthzTimeout)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHealth(ctx, health, settings.HealthzListenAddress) })
	group.Go(func() error { return serveMetrics(ctx, base, settings.MetricsListenAddress) })
	group.Go(func() error {
		work := func(ctx context.Context) error { return runControllers(ctx, factory, base, settings) }
		if !settings.LeaderElectionConfig.Enabled {
			return work(ctx)
		}
		return leader.Run(ctx, base.RESTConfig, leader.Options{
			Namespace:     settings.LeaderElectionConfig.Namespace,
			Name:          leaseName,
			LeaseDuration: settings.LeaderElectionConfig.LeaseDuration,
			RenewDeadline: settings.LeaderElectionConfig.RenewDeadline,
			RetryPeriod:   settings.LeaderElectionConfig.RetryPeriod,
			Watchdog:      health.LeaderHealthzAdaptor,
		}, work)
	})
	return group.Wait()
}

// configuration returns upstream's defaults, overridden by args.
func configuration(args []string) (*config.ControllerConfiguration, error) {
	scheme, _, err := configscheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	versioned := &configv1alpha1.ControllerConfiguration{}
	scheme.Default(versioned)
	settings := &config.ControllerConfiguration{}
	if err := scheme.Convert(versioned, settings, nil); err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	flags.StringVar(&settings.KubeConfig, "kubeconfig", settings.KubeConfig, "kubeconfig file; in-cluster if empty")
	flags.StringVar(&settings.Namespace, "namespace", settings.Namespace, "the one namespace to watch; all if empty")
	flags.StringVar(&settings.ClusterResourceNamespace, "cluster-resource-namespace",
		settings.ClusterResourceNamespace, "namespace of ClusterIssuers' Secrets")
	flags.BoolVar(&settings.LeaderElectionConfig.Enabled, "leader-elect", settings.LeaderElectionConfig.Enabled, "hold a lease")
	flags.StringVar(&settings.LeaderElectionConfig.Namespace, "leader-election-namespace",
		settings.LeaderElectionConfig.Namespace, "namespace of the lease")
	flags.StringVar(&settings.ACMEHTTP01Config.SolverImage, "acme-http01-solver-image",
		settings.ACMEHTTP01Config.SolverImage, "image of HTTP01 solver pods")
	flags.IntVar(&settings.MaxConcurrentChallenges, "max-concurrent-challenges",
		settings.MaxConcurrentChallenges, "ACME challenges at a time")
	flags.BoolVar(&settings.EnableCertificateOwnerRef, "enable-certificate-owner-ref",
		settings.EnableCertificateOwnerRef, "make Certificates own their Secrets")
	flags.StringSliceVar(&settings.Controllers, "controllers", settings.Controllers, "controllers to run: *, NAME, -NAME")
	logf.AddFlags(&settings.Logging, flags)
	return settings, flags.Parse(args)
}

func contextOptions(settings *config.ControllerConfiguration) (controller.ContextOptions, error) {
	solver := settings.ACMEHTTP01Config
	quantities := make([]resource.Quantity, 0, 4)
	for _, text := range []string{
		solver.SolverResourceRequestCPU, solver.SolverResourceRequestMemory,
		solver.SolverResourceLimitsCPU, solver.SolverResourceLimitsMemory,
	} {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return controller.ContextOptions{}, fmt.Errorf("solver resource %q: %w", text, err)
		}
		quantities = append(quantities, quantity)
	}
	shim := settings.IngressShimConfig
	return controller.ContextOptions{
		APIServerHost:      settings.APIServerHost,
		Kubeconfig:         settings.KubeConfig,
		KubernetesAPIQPS:   settings.KubernetesAPIQPS,
		KubernetesAPIBurst: settings.KubernetesAPIBurst,
		Namespace:          settings.Namespace,
		IssuerOptions: controller.IssuerOptions{
			ClusterResourceNamespace:        settings.ClusterResourceNamespace,
			ClusterIssuerAmbientCredentials: settings.ClusterIssuerAmbientCredentials,
			IssuerAmbientCredentials:        settings.IssuerAmbientCredentials,
		},
		ACMEOptions: controller.ACMEOptions{
			HTTP01SolverImage:                 solver.SolverImage,
			HTTP01SolverResourceRequestCPU:    quantities[0],
			HTTP01SolverResourceRequestMemory: quantities[1],
			HTTP01SolverResourceLimitsCPU:     quantities[2],
			HTTP01SolverResourceLimitsMemory:  quantities[3],
			ACMEHTTP01SolverRunAsNonRoot:      solver.SolverRunAsNonRoot,
			HTTP01SolverNameservers:           solver.SolverNameservers,
			DNS01CheckAuthoritative:           !settings.ACMEDNS01Config.RecursiveNameserversOnly,
			DNS01Nameservers:                  settings.ACMEDNS01Config.RecursiveNameservers,
			DNS01CheckRetryPeriod:             settings.ACMEDNS01Config.CheckRetryPeriod,
		},
		IngressShimOptions: controller.IngressShimOptions{
			DefaultIssuerName:                 shim.DefaultIssuerName,
			DefaultIssuerKind:                 shim.DefaultIssuerKind,
			DefaultIssuerGroup:                shim.DefaultIssuerGroup,
			DefaultAutoCertificateAnnotations: shim.DefaultAutoCertificateAnnotations,
			ExtraCertificateAnnotations:       shim.ExtraCertificateAnnotations,
		},
		CertificateOptions: controller.CertificateOptions{
			EnableOwnerRef:           settings.EnableCertificateOwnerRef,
			CopiedAnnotationPrefixes: settings.CopiedAnnotationPrefixes,
		},
		SchedulerOptions: controller.SchedulerOptions{MaxConcurrentChallenges: settings.MaxConcurrentChallenges},
		ConfigOptions:    controller.ConfigOptions{EnableGatewayAPI: settings.EnableGatewayAPI},
	}, nil
}

// enabled lists the controllers to run: upstream's default set less what "-NAME" turns off, and less the
// cluster-scoped ones where only one namespace is watched.
func enabled(settings *config.ControllerConfiguration) []string {
	var names []string
	for _, name := range defaults.DefaultEnabledControllers {
		if slices.Contains(settings.Controllers, "-"+name) || settings.Namespace != "" && name == clusterissuers.ControllerName {
			continue
		}
		if slices.Contains(settings.Controllers, "*") || slices.Contains(settings.Controllers, name) {
			names = append(names, name)
		}
	}
	return names
}

func runControllers(ctx context.Context, factory *controller.ContextFactory, base *controller.Context, settings *config.ControllerConfiguration) error {
	group, ctx := errgroup.WithContext(ctx)
	known := controller.Known()
	for _, name := range enabled(settings) {
		made, err := known[name](factory)
		if err != nil {
			return fmt.Errorf("controller %s: %w", name, err)
		}
		group.Go(func() error { return made.Run(settings.NumberOfConcurrentWorkers, ctx) })
	}
	base.SharedInformerFactory.Start(ctx.Done())
	base.KubeSharedInformerFactory.Start(ctx.Done())
	base.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	return group.Wait()
}

func serveHealth(ctx context.Context, server *healthz.Server, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return server.Start(ctx, listener)
}

func serveMetrics(ctx context.Context, base *controller.Context, address string) error {
	if address == "0" {
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := base.Metrics.NewServer(listener)
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}
