"""Datasets made of other datasets, each for one purpose; they can be put around one another in any way.

Items changed
    `added_tokens`, `removed_tokens`, `changed_tokens`; `mask_tokens_dataset` with `mask_draws`, `noising_dataset` with
    `word_noising`, `denoising_dataset` with `bart_noise`. `lru_cache_dataset` remembers items.
Rows chosen
    `subsample_dataset`, `resampling_dataset` (on `reindexed_dataset`), `sort_dataset`, `sharded_dataset`.
Several datasets
    `concat_dataset` one after the other; `joined_sentences` and `xlco_dataset` item by item; `round_robin_zip_datasets`
    and `multi_corpus_sampled_dataset` (on `aligned_datasets`), `dict_dataset` and `nested_dictionary_dataset` (on
    `named_datasets`) side by side, with `columns` for the parts of the latter.
Batches changed
    `pad_dataset`, `bucket_pad_length_dataset`, `colorize_dataset`, `transform_eos_dataset`,
    `transform_eos_lang_pair_dataset`, `lm_context_window_dataset`, `backtranslation_dataset`.
"""
