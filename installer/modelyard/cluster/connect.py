"""From a kubeconfig to a session."""

from __future__ import annotations

from pathlib import Path

import yaml
from kubernetes import client, config
from kubernetes.config import kube_config

from modelyard.cluster.session import Session
from modelyard.cluster.transport import PATIENCE_SECONDS, Transport
from modelyard.errors import ClusterUnreachableError
from modelyard.memory_files import memory_file

_REMEDY = "name a kubeconfig by --kubeconfig, or start a cluster with `modelyard local up`"
CONNECTIONS = 32

# The client writes the keys of a kubeconfig (and of an exec plugin) into $TMPDIR, and removes them in an exit handler
# that neither os._exit nor a signal runs. It has no setting for that: a test holds that the name is still the one.
kube_config._create_temp_file_with_content = memory_file


def connect(
    kubeconfig: Path | None = None, context: str | None = None, *, patience: float = PATIENCE_SECONDS
) -> Session:
    """Open a session.

    Args:
        kubeconfig: the file; None: $KUBECONFIG, then the default.
        context: a context of it; None: the current one.
        patience: seconds to keep trying when the apiserver does not answer.

    Raises:
        ClusterUnreachableError: no such file or context, or nobody answers there.
    """
    configuration = client.Configuration()
    configuration.connection_pool_maxsize = CONNECTIONS
    shown = str(kubeconfig) if kubeconfig else "the default kubeconfig"
    if kubeconfig is not None and not kubeconfig.is_file():
        raise ClusterUnreachableError(f"kubeconfig {kubeconfig}", "is not there", _REMEDY)
    try:
        config.load_kube_config(
            config_file=str(kubeconfig) if kubeconfig else None,
            context=context,
            client_configuration=configuration,
        )
    except (config.ConfigException, yaml.YAMLError, OSError, ValueError, TypeError, KeyError) as error:
        subject = f"context {context} of {shown}" if context else shown
        raise ClusterUnreachableError(subject, f"cannot be used: {error}", _REMEDY) from error
    session = Session(Transport(client.ApiClient(configuration), patience=patience))
    session.check()
    return session
