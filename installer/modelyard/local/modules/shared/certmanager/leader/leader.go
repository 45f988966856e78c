// Package leader runs a function while this process holds cert-manager's leader lease.
package leader

import (
	"context"
	"errors"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Options says which lease to hold and how long to wait for it.
type Options struct {
	Namespace, Name                           string
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	Watchdog                                  *leaderelection.HealthzAdaptor
}

// Run blocks until ctx ends (nil) or the lease is lost (an error); run is called once the lease is held.
func Run(ctx context.Context, config *rest.Config, options Options, run func(context.Context) error) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	identity, err := os.Hostname()
	if err != nil {
		return err
	}
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, options.Namespace, options.Name,
		client.CoreV1(), client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: identity})
	if err != nil {
		return err
	}
	held, cancel := context.WithCancel(ctx)
	defer cancel()
	result := make(chan error, 1)
	leaderelection.RunOrDie(held, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   options.LeaseDuration,
		RenewDeadline:   options.RenewDeadline,
		RetryPeriod:     options.RetryPeriod,
		ReleaseOnCancel: true,
		WatchDog:        options.Watchdog,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				result <- run(leading)
				cancel()
			},
			OnStoppedLeading: func() {},
		},
	})
	select {
	case err := <-result:
		return err
	default:
	}
	if ctx.Err() != nil {
		return nil
	}
	return errors.New("leader lease " + options.Namespace + "/" + options.Name + " was lost")
}
