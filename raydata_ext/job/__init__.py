"""Jobs as files: `schema` says what may stand in one, `reading` reads and checks it, `running` does it here, and
`submission` has it done on a cluster.
"""

from __future__ import annotations

from raydata_ext.job.reading import read_job_file, read_storage_options
from raydata_ext.job.running import plan_of, report_directory, run_job
from raydata_ext.job.schema import JobFile
from raydata_ext.job.submission import submit_job

__all__ = ["JobFile", "plan_of", "read_job_file", "read_storage_options", "report_directory", "run_job", "submit_job"]
