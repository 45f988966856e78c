"""Any kubeconfig, read by the official client: tokens, exec plugins, proxies, several files and contexts."""

from __future__ import annotations

from pathlib import Path

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config import kube_config
from yaml import YAMLError

from modelyard.cluster.endpoint import CONNECTIONS, Endpoint, Headers, Parameters
from modelyard.memory_files import memory_file

# The client writes the keys of a kubeconfig (and of an exec plugin) into $TMPDIR, and removes them in an exit handler
# that neither os._exit nor a signal runs. It has no setting for that: a test holds that the name is still the one.
kube_config._create_temp_file_with_content = memory_file


def of_kubeconfig(kubeconfig: Path | None, context: str | None) -> Endpoint:
    """Return the endpoint of a context.

    Args:
        kubeconfig: the file; None: $KUBECONFIG, then the default.
        context: a context of it; None: the current one.

    Raises:
        ValueError: it cannot be used; says why.
    """
    configuration = client.Configuration()
    configuration.connection_pool_maxsize = CONNECTIONS
    try:
        config.load_kube_config(
            config_file=str(kubeconfig) if kubeconfig else None, context=context, client_configuration=configuration
        )
    except (config.ConfigException, YAMLError, OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(str(error)) from error
    api = client.ApiClient(configuration)

    def authorize(headers: Headers, parameters: Parameters) -> None:
        try:
            api.update_params_for_auth(headers, parameters, ["BearerToken"])  # also renews tokens of exec plugins
        except ApiException as error:
            raise OSError(str(error)) from error

    return Endpoint(str(configuration.host), api.rest_client.pool_manager, authorize)
