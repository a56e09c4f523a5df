"""Metrics of clusterings, of masks, and of video segmentations, with and without a ground truth."""

from scstream.metrics.clusterings import Contingency, ari, clustering_scores, full_nmi, nmi, pairwise_f, purity
from scstream.metrics.id_maps import IdMap, Mask
from scstream.metrics.masks import boundary_f, jaccard
from scstream.metrics.objects import (
    carried_jaccard,
    dominant_id,
    ids_inside,
    oracle_jaccard,
    oracle_jaccard_per_frame,
)
from scstream.metrics.stability import label_churn, temporal_consistency

__all__ = [
    "Contingency",
    "IdMap",
    "Mask",
    "ari",
    "boundary_f",
    "carried_jaccard",
    "clustering_scores",
    "dominant_id",
    "full_nmi",
    "ids_inside",
    "jaccard",
    "label_churn",
    "nmi",
    "oracle_jaccard",
    "oracle_jaccard_per_frame",
    "pairwise_f",
    "purity",
    "temporal_consistency",
]
