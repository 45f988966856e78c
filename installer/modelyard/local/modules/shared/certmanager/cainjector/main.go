// The cert-manager CA injector, from the root module's packages (see controller/main.go for why).
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	config "github.com/cert-manager/cert-manager/internal/apis/config/cainjector"
	configscheme "github.com/cert-manager/cert-manager/internal/apis/config/cainjector/scheme"
	configv1alpha1 "github.com/cert-manager/cert-manager/pkg/apis/config/cainjector/v1alpha1"
	certmanager "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

const leaseName = "cert-manager-cainjector-leader-election"

func main() {
	logf.InitLogs()
	defer logf.FlushLogs()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager cainjector:", err)
		logf.FlushLogs()
		os.Exit(1)
	}
}

func run(args []string) error {
	settings, err := configuration(args)
	if err != nil {
		return err
	}
	if err := logf.ValidateAndApply(&settings.Logging); err != nil {
		return err
	}
	ctrl.SetLogger(logf.Log)
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, certmanager.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
	} {
		if err := add(known); err != nil {
			return err
		}
	}
	rest, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	election := settings.LeaderElectionConfig
	manager, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme:                        known,
		LeaderElection:                election.Enabled,
		LeaderElectionNamespace:       election.Namespace,
		LeaderElectionID:              leaseName,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &election.LeaseDuration,
		RenewDeadline:                 &election.RenewDeadline,
		RetryPeriod:                   &election.RetryPeriod,
		Metrics:                       server.Options{BindAddress: settings.MetricsListenAddress},
	})
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		Namespace:                    settings.Namespace,
		EnableCertificatesDataSource: settings.EnableDataSourceConfig.Certificates,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   settings.EnableInjectableConfig.MutatingWebhookConfigurations,
			cainjector.ValidatingWebhookConfigurationName: settings.EnableInjectableConfig.ValidatingWebhookConfigurations,
			cainjector.APIServiceName:                     settings.EnableInjectableConfig.APIServices,
			cainjector.CustomResourceDefinitionName:       settings.EnableInjectableConfig.CustomResourceDefinitions,
		},
	})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// configuration returns upstream's defaults, overridden by the flags that the release's manifest sets.
func configuration(args []string) (*config.CAInjectorConfiguration, error) {
	scheme, _, err := configscheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	versioned := &configv1alpha1.CAInjectorConfiguration{}
	scheme.Default(versioned)
	settings := &config.CAInjectorConfiguration{}
	if err := scheme.Convert(versioned, settings, nil); err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("cainjector", pflag.ContinueOnError)
	flags.StringVar(&settings.Namespace, "namespace", settings.Namespace, "the one namespace to watch; all if empty")
	flags.BoolVar(&settings.LeaderElectionConfig.Enabled, "leader-elect", settings.LeaderElectionConfig.Enabled, "hold a lease")
	flags.StringVar(&settings.LeaderElectionConfig.Namespace, "leader-election-namespace",
		settings.LeaderElectionConfig.Namespace, "namespace of the lease")
	flags.StringVar(&settings.MetricsListenAddress, "metrics-listen-address",
		settings.MetricsListenAddress, "address of /metrics; 0 for none")
	logf.AddFlags(&settings.Logging, flags)
	return settings, flags.Parse(args)
}
