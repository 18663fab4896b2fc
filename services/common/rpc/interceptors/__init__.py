"""What every call passes on its way in, outermost first."""

from services.common.rpc.interceptors.chain import InterceptorSettings, interceptors

__all__ = ["InterceptorSettings", "interceptors"]
