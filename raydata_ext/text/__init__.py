"""fairseq's data modules over Arrow tokens.

A row's path: lines of text become tokens with a `Dictionary`, as a column of a data set (`ArrowTokenDataset`), a pair
of files (`MMapIndexedDataset`, `IndexedDataset`), or in memory (`IndexedRawTextDataset`). Datasets around datasets
change them one thing at a time. `ordered_indices` puts rows in order, `batch_by_size` cuts batches, an iterator deals
them to ranks, and `collater` makes of the items of a batch what a model takes.

Items are numpy arrays. Batches are torch tensors where torch is installed, else numpy arrays; `return_tensors` of a
dataset, or of `collater`, says which. Nothing draws from, or changes, global random state.

Contract
    `contract`: what datasets can be asked, and the bases of wrappers.
Tokens
    `dictionary` (with `dictionary_file`, `truncated_dictionary`, `tokenizer`, `word_counts`), `binarizer` for one text
    and `parallel_corpus` for two (on `line_encoding`); `arrow_token_dataset`, `raw_text_dataset`, and `indexed` for
    `.bin` and `.idx` files.
What models learn from
    `language_pair_dataset` with `pair_batch`, `monolingual_dataset`, `token_block_dataset` with `token_blocks`.
Wrappers
    `wrappers`: everything that is made of other datasets.
Batches
    `collate_tokens` pads rows; `batch_by_size`, `filter_by_size` and `size_buckets` choose them; `batches` keeps them.
    `iterators` deals them out.
"""

from __future__ import annotations

from raydata_ext.text.arrow_token_dataset import ArrowTokenDataset
from raydata_ext.text.batch_by_size import batch_by_size
from raydata_ext.text.batches import Batches
from raydata_ext.text.binarizer import Binarizer
from raydata_ext.text.collate_tokens import collate_tokens
from raydata_ext.text.contract.base_wrapper_dataset import BaseWrapperDataset
from raydata_ext.text.contract.fairseq_dataset import EpochListening, FairseqDataset
from raydata_ext.text.contract.iterable_dataset import FairseqIterableDataset
from raydata_ext.text.dictionary import Dictionary
from raydata_ext.text.filter_by_size import filter_by_size
from raydata_ext.text.indexed.indexed_dataset import IndexedCachedDataset, IndexedDataset, IndexedDatasetBuilder
from raydata_ext.text.indexed.loading import infer_language_pair, load_indexed_dataset, make_builder, make_dataset
from raydata_ext.text.indexed.mmap_builder import MMapIndexedDatasetBuilder
from raydata_ext.text.indexed.mmap_indexed_dataset import MMapIndexedDataset
from raydata_ext.text.iterators import (
    BufferedIterator,
    CountingIterator,
    EpochBatchIterator,
    GroupedIterator,
    ShardedIterator,
    StreamingEpochBatchIterator,
)
from raydata_ext.text.language_pair_dataset import LanguagePairDataset
from raydata_ext.text.monolingual_dataset import MonolingualDataset
from raydata_ext.text.pair_batch import collate
from raydata_ext.text.parallel_corpus import ParallelCorpus, binarize_parallel
from raydata_ext.text.raw_text_dataset import IndexedRawTextDataset
from raydata_ext.text.size_buckets import get_bucketed_sizes, get_buckets
from raydata_ext.text.token_block_dataset import TokenBlockDataset
from raydata_ext.text.tokenizer import post_process, process_bpe_symbol, tokenize_line
from raydata_ext.text.truncated_dictionary import TruncatedDictionary
from raydata_ext.text.word_counts import count_words
from raydata_ext.text.wrappers.added_tokens import AppendTokenDataset, PrependTokenDataset
from raydata_ext.text.wrappers.backtranslation_dataset import BacktranslationDataset
from raydata_ext.text.wrappers.bucket_pad_length_dataset import BucketPadLengthDataset
from raydata_ext.text.wrappers.changed_tokens import OffsetTokensDataset, PrependDataset, ReplaceDataset, RollDataset
from raydata_ext.text.wrappers.colorize_dataset import ColorizeDataset
from raydata_ext.text.wrappers.columns import (
    IdDataset,
    ListDataset,
    NumelDataset,
    NumSamplesDataset,
    RawLabelDataset,
)
from raydata_ext.text.wrappers.concat_dataset import ConcatDataset
from raydata_ext.text.wrappers.denoising_dataset import DenoisingDataset, DenoisingOptions
from raydata_ext.text.wrappers.dict_dataset import DictDataset
from raydata_ext.text.wrappers.joined_sentences import ConcatSentencesDataset, TLMDataset
from raydata_ext.text.wrappers.lm_context_window_dataset import LMContextWindowDataset
from raydata_ext.text.wrappers.lru_cache_dataset import LRUCacheDataset
from raydata_ext.text.wrappers.mask_tokens_dataset import MaskTokensDataset
from raydata_ext.text.wrappers.multi_corpus_sampled_dataset import MultiCorpusSampledDataset
from raydata_ext.text.wrappers.nested_dictionary_dataset import NestedDictionaryDataset
from raydata_ext.text.wrappers.noising_dataset import NoisingDataset
from raydata_ext.text.wrappers.pad_dataset import LeftPadDataset, PadDataset, RightPadDataset
from raydata_ext.text.wrappers.removed_tokens import StripTokenDataset, TruncateDataset
from raydata_ext.text.wrappers.resampling_dataset import ResamplingDataset
from raydata_ext.text.wrappers.round_robin_zip_datasets import RoundRobinZipDatasets
from raydata_ext.text.wrappers.sharded_dataset import ShardedDataset
from raydata_ext.text.wrappers.sort_dataset import SortDataset
from raydata_ext.text.wrappers.subsample_dataset import SubsampleDataset
from raydata_ext.text.wrappers.transform_eos_dataset import TransformEosDataset
from raydata_ext.text.wrappers.transform_eos_lang_pair_dataset import TransformEosLangPairDataset
from raydata_ext.text.wrappers.word_noising import UnsupervisedMTNoising, WordDropout, WordNoising, WordShuffle
from raydata_ext.text.wrappers.xlco_dataset import XlcoDataset

__all__ = [
    "AppendTokenDataset",
    "ArrowTokenDataset",
    "BacktranslationDataset",
    "BaseWrapperDataset",
    "Batches",
    "Binarizer",
    "BucketPadLengthDataset",
    "BufferedIterator",
    "ColorizeDataset",
    "ConcatDataset",
    "ConcatSentencesDataset",
    "CountingIterator",
    "DenoisingDataset",
    "DenoisingOptions",
    "DictDataset",
    "Dictionary",
    "EpochBatchIterator",
    "EpochListening",
    "FairseqDataset",
    "FairseqIterableDataset",
    "GroupedIterator",
    "IdDataset",
    "IndexedCachedDataset",
    "IndexedDataset",
    "IndexedDatasetBuilder",
    "IndexedRawTextDataset",
    "LMContextWindowDataset",
    "LRUCacheDataset",
    "LanguagePairDataset",
    "LeftPadDataset",
    "ListDataset",
    "MMapIndexedDataset",
    "MMapIndexedDatasetBuilder",
    "MaskTokensDataset",
    "MonolingualDataset",
    "MultiCorpusSampledDataset",
    "NestedDictionaryDataset",
    "NoisingDataset",
    "NumSamplesDataset",
    "NumelDataset",
    "OffsetTokensDataset",
    "PadDataset",
    "ParallelCorpus",
    "PrependDataset",
    "PrependTokenDataset",
    "RawLabelDataset",
    "ReplaceDataset",
    "ResamplingDataset",
    "RightPadDataset",
    "RollDataset",
    "RoundRobinZipDatasets",
    "ShardedDataset",
    "ShardedIterator",
    "SortDataset",
    "StreamingEpochBatchIterator",
    "StripTokenDataset",
    "SubsampleDataset",
    "TLMDataset",
    "TokenBlockDataset",
    "TransformEosDataset",
    "TransformEosLangPairDataset",
    "TruncateDataset",
    "TruncatedDictionary",
    "UnsupervisedMTNoising",
    "WordDropout",
    "WordNoising",
    "WordShuffle",
    "XlcoDataset",
    "batch_by_size",
    "binarize_parallel",
    "collate",
    "collate_tokens",
    "count_words",
    "filter_by_size",
    "get_bucketed_sizes",
    "get_buckets",
    "infer_language_pair",
    "load_indexed_dataset",
    "make_builder",
    "make_dataset",
    "post_process",
    "process_bpe_symbol",
    "tokenize_line",
]
