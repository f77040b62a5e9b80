/**
 * Suites that also run with all accounts in a cell on a node of Citus, by the project `citus` of vitest. These do not, of
 * those that have a database:
 * - `store/commit/explain`, `store/search/emailLogPlans`: look at plans, which the coordinator does not show of a node;
 * - `store/commit/{faults,hangs}`: damage the connections to the first server, where the cell is not;
 * - `store/admission/admission`: stops the clock of the first server, which cannot be stopped on a node;
 * - `store/outbox/processes`: has sessions on the first server, and a cell on a node has its own there;
 * - `store/commit/contention`, `store/feed/feed`, `store/postgres/epoch`: their stores put accounts into the first cell;
 * - `store/rebuild/projectionsCommand`: commands go over both cells, and print both;
 * - `store/database/migrations`: of the whole database, and `citus-cells` has those of cells;
 * - `store/postgres/sqlErrors`: errors of a server, to which a lock or a role on the coordinator gives rise;
 * - `store/backup/backup`, `store/operations/cellsCommand`: start servers of their own, or expect that there is no Citus.
 * Suites of rebuilds and of the feed over several cells run in `citus-cells`.
 */
export const FILES = [
  "test/attack/attack.test.ts",
  "test/server/{compat,domainReports,feed,http,links,mcp,providers,signIn,smtp,testMode,webhooks,worker}/*.test.ts",
  "test/store/admission/!(admission).test.ts",
  "test/store/commit/{eventStore,packedEvents}.test.ts",
  "test/store/{content,copy,secrets,users}/*.test.ts",
  "test/store/erasure/{eraseCommand,eraseHistories,retention}.test.ts",
  "test/store/feed/{cursors,eventKinds,feedSoak}.test.ts",
  "test/store/operations/{audit,conservation,eventsCommand}.test.ts",
  "test/store/outbox/!(processes).test.ts",
  "test/store/postgres/{idKey,testClock}.test.ts",
  "test/store/rebuild/{foldThreads,rebuild,rebuildProgress}.test.ts",
  "test/store/database/pipelinedConnection.test.ts",
  "test/store/search/{emailLogChoice,emailLogQuery}.test.ts",
  "test/store/statistics/*.test.ts",
  "test/store/streams/{longStreams,streamStateCache}.test.ts",
]

/**
 * Suites of cells, which make their own, here on nodes of Citus. The suites that need Citus make their databases themselves, and
 * `store/routing/cells` is of schemas beside the first one, which share its positions.
 */
export const OF_CELLS = [
  "test/{server,store}/cells/!(citus)*.test.ts",
  "test/server/cells/moves/*.test.ts",
  "test/store/{locks,moves,routing/directory}/*.test.ts",
]

/** The cell, which has a name of its own, because the search path of its tables must differ from that of the first one. */
export const CELL = "cell_t"

const FALLS_BACK = "without a table of the cell, a statement finds that of the first cell"
const READS_COORDINATOR = "reads statistics of tables, which the coordinator does not have for tables of a node"
const SHARES_BOUND = "counts rows in flight of a process that serves one cell; two cells share them"
const NO_TRIGGERS = "Citus has no triggers on tables of a node"
const ONE_CLOCK = "the clock of the database cannot be stopped on a node"
const PLACED_FIRST = "the test gives the account its cell before its first commit, and is interrupted there"
const FIRST_ACCOUNT = "the first account of an installation is in the first cell"
const OTHER_SERVER = "damages the connections to the first server, where the cell is not"
const OWN_CELLS = "makes a cell of its own, and moves secrets there from the first one"
const ASKS_NODE = "without home, the node of the cell says who has left it, which a row of the directory alone does not"
const NODE_BY_NODE = "a cluster of Citus is backed up node by node, which `waybill backup` refuses"
const STAYS_TRACKED = "the directory keeps a tracking host of another cell, once it was verified"
const OF_INSTANCE = "secrets of the instance are in the first cell"

/** Tests of these suites that cannot hold on a node of Citus, by file and name, with the reason. */
export const SKIPPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "test/server/cells/restoredHome.test.ts": {
    "is told by the commands, which mend what is certain": NODE_BY_NODE,
  },
  "test/server/http/httpPreviews.test.ts": {
    "say that content is no longer kept, and that mail was not captured": FIRST_ACCOUNT,
  },
  "test/server/http/httpSendBodies.test.ts": {
    "gets a 500 with the request's id when a table is gone, for the admission or for the commit": FALLS_BACK,
  },
  "test/server/links/httpTrackingDomain.test.ts": {
    "is a DNS record of its own, and used while it resolves here": STAYS_TRACKED,
    "gets no certificate before the domain is verified": STAYS_TRACKED,
  },
  "test/server/links/stoppedLinks.test.ts": {
    "stay cached while the database is unavailable, which is logged once": FALLS_BACK,
  },
  "test/server/smtp/submissionAdmission.test.ts": {
    "messages per minute, and accepts more in the next minute": ONE_CLOCK,
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
  "test/store/routing/directory/directory.test.ts": {
    "is waited for when it was last read long ago": ASKS_NODE,
  },
  "test/store/commit/eventStore.test.ts": {
    "commits also when the caller is interrupted": PLACED_FIRST,
  },
  "test/store/erasure/eraseHistories.test.ts": {
    "commits together with the event that records it, or not at all": NO_TRIGGERS,
  },
  "test/store/outbox/leases.test.ts": {
    "stay with holders that reconnect, and are reclaimed after two searches found them": FALLS_BACK,
  },
  "test/store/rebuild/rebuild.test.ts": {
    "writes only its own tables: it succeeds while all other tables refuse writes": NO_TRIGGERS,
  },
  "test/store/statistics/emailStatsMonths.test.ts": {
    "are created even if moving their rows exceeds the statement timeout": NO_TRIGGERS,
  },
  "test/store/statistics/monthlyUsage.test.ts": {
    "equals the accepted recipients less the canceled ones, whatever happens to commit batches": OTHER_SERVER,
  },
  "test/store/secrets/secrets.test.ts": {
    "is deleted when it expired or its owner was never created": OF_INSTANCE,
    "names the cell, and keeps the former key needed until the cell has its turn": OWN_CELLS,
  },
}
