"""The old names of `estimating`, for a bench that still says them."""

from ridedash.views.estimating import Estimator


class Quotes(Estimator):
    """See Estimator."""

    quote = Estimator.estimates
