/**
 * Suites that also run with all accounts in a cell on a node of Citus, by the project `citus` of vitest. Of the others in
 * `test/store`, those of plans, partitions, the database's clock and faults of one connection look at the server that has
 * the tables; those of rebuilds, verify and the feed's writers expect one cell, and run in `citus-cells` instead.
 */
export const FILES = [
  "test/server/{compat,domainReports,feed,http,links,providers,smtp,testMode,webhooks,worker}/*.test.ts",
  "test/store/feed/{cursors,eventKinds,feedSoak}.test.ts",
  "test/store/rebuild/rebuildProgress.test.ts",
  "test/store/statistics/{emailStats,monthlyUsage,recipientCounts}.test.ts",
  "test/store/outbox/secrets.test.ts",
  "test/store/search/emailLogQuery.test.ts",
]

/** Suites of cells, which make their own, here on nodes of Citus. The suites that need Citus make their databases themselves. */
export const OF_CELLS = ["test/{server,store}/cells/!(citus)*.test.ts"]

/** The cell, which has a name of its own, because the search path of its tables must differ from that of the first one. */
export const CELL = "cell_t"

const FALLS_BACK = "without a table of the cell, a statement finds that of the first cell"
const READS_COORDINATOR = "reads statistics of tables, which the coordinator does not have for tables of a node"
const SHARES_BOUND = "counts rows in flight of a process that serves one cell; two cells share them"
const FIRST_ACCOUNT = "the first account of an installation is in the first cell"
const OF_INSTANCE = "secrets of the instance are in the first cell"

/** Tests of these suites that cannot hold on a node of Citus, by file and name, with the reason. */
export const SKIPPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "test/server/http/httpPreviews.test.ts": {
    "say that content is no longer kept, and that mail was not captured": FIRST_ACCOUNT,
  },
  "test/server/http/httpSendFastPath.test.ts": {
    "give equal responses when a table is gone, for the admission or for the commit": FALLS_BACK,
  },
  "test/server/links/stoppedLinks.test.ts": {
    "stay cached while the database is unavailable, which is logged once": FALLS_BACK,
  },
  "test/server/worker/claimedRows.test.ts": {
    "is dropped before the lease ends if the database does not answer": FALLS_BACK,
  },
  "test/server/worker/pipeline.test.ts": {
    "leaves room for others when all servers of one account hang": SHARES_BOUND,
  },
  "test/server/worker/scheduled.test.ts": {
    "sends scheduled mail on time with 200,000 waiting rows, without reading them": READS_COORDINATOR,
  },
  "test/store/outbox/secrets.test.ts": {
    "is deleted when it expired or its owner was never created": OF_INSTANCE,
  },
}
