"""Metrics of clusterings, of masks, and of video segmentations, with and without a ground truth."""

from scstream.metrics.clusterings import Contingency, ari, clustering_scores, full_nmi, nmi, pairwise_f, purity
from scstream.metrics.connectivity import pieces
from scstream.metrics.id_maps import IdMap, Mask
from scstream.metrics.masks import boundary_f, decay, jaccard
from scstream.metrics.objects import (
    carried_jaccard,
    dominant_id,
    ids_inside,
    oracle_jaccard,
    oracle_jaccard_per_frame,
)
from scstream.metrics.stability import Flow, Lives, kept_along_flow, label_churn, lives, temporal_consistency
from scstream.metrics.supervoxels import Supervoxels, SupervoxelScores, supervoxel_scores

__all__ = [
    "Contingency",
    "Flow",
    "IdMap",
    "Lives",
    "Mask",
    "SupervoxelScores",
    "Supervoxels",
    "ari",
    "boundary_f",
    "carried_jaccard",
    "clustering_scores",
    "decay",
    "dominant_id",
    "full_nmi",
    "ids_inside",
    "jaccard",
    "kept_along_flow",
    "label_churn",
    "lives",
    "nmi",
    "oracle_jaccard",
    "oracle_jaccard_per_frame",
    "pairwise_f",
    "pieces",
    "purity",
    "supervoxel_scores",
    "temporal_consistency",
]
