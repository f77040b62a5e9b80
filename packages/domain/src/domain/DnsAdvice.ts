/** Sentence in place of the records of a domain that needs none. */
export const NEEDS_NO_DNS = "In the sandbox this domain needs no DNS."

/** Sentence below records without a return path. */
export const NO_RETURN_PATH =
  "Bounces are not received under this domain. Set RETURN_PATH_DOMAIN first; then the record of the return path appears here."

interface Checked {
  readonly status: string
  readonly records: ReadonlyArray<{ readonly status: string }>
}

/** Whether the sandbox verified the domain without a look at DNS, because nobody has records under its name. */
export const needsNoDns = ({ records, status }: Checked): boolean =>
  status === "verified" && records.every((record) => record.status === "not_checked")

/** Whether the installation has no name yet to which a return path could lead. */
export const lacksReturnPath = (records: ReadonlyArray<{ readonly purpose: string }>): boolean =>
  records.every(({ purpose }) => purpose !== "return_path")
