/** How long to wait for a server that accepts the connection and does not answer. */
export const CONNECT_TIMEOUT_MS = 5_000
/** Maximum time of a statement, so that no request holds a connection for longer. */
export const STATEMENT_TIMEOUT = "30s"
export const IDLE_IN_TRANSACTION_TIMEOUT = "10s"

/** Settings of every session, sent as startup parameters. */
export const SESSION = {
  statement_timeout: STATEMENT_TIMEOUT,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT,
  // A generic plan does not know how few rows a LIMIT needs: one of them sorted the whole outbox.
  plan_cache_mode: "force_custom_plan",
  // With the default cost, the planner reads one account's feed by scanning the events of all accounts.
  random_page_cost: "1.1",
  // Compiling a query takes about 0.1 s, which an overestimated cost triggers for short queries.
  jit: "off",
} as const
