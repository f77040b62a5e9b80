import type { Redacted } from "effect"

/** Brings the empty template database into the state every test's own database starts from. */
export const prepareTemplate = async (_url: Redacted.Redacted): Promise<void> => {}
