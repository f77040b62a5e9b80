import type { Scenario } from "./harness/Scenario.ts"
import { authNonsense } from "./scenarios/access/authNonsense.ts"
import { boundKey } from "./scenarios/access/boundKey.ts"
import { codeReplay } from "./scenarios/access/codeReplay.ts"
import { passwordGuesses } from "./scenarios/access/passwordGuesses.ts"
import { publicTestToken } from "./scenarios/access/publicTestToken.ts"
import { revokedKey } from "./scenarios/access/revokedKey.ts"
import { terminal } from "./scenarios/access/terminal.ts"
import { unsubscribeTokens } from "./scenarios/access/unsubscribeTokens.ts"
import { connections } from "./scenarios/http/connections.ts"
import { halfBodies } from "./scenarios/http/halfBodies.ts"
import { largestMail } from "./scenarios/http/largestMail.ts"
import { largeLists } from "./scenarios/http/largeLists.ts"
import { LARGEST_REQUESTS } from "./scenarios/http/largestRequests.ts"
import { metricsHost } from "./scenarios/http/metricsHost.ts"
import { pipelined } from "./scenarios/http/pipelined.ts"
import { previewCid } from "./scenarios/http/previewCid.ts"
import { requestLogFlood } from "./scenarios/http/requestLogFlood.ts"
import { sandboxLines } from "./scenarios/http/sandboxLines.ts"
import { unreadDocs } from "./scenarios/http/unreadDocs.ts"
import { webhookFanOut } from "./scenarios/http/webhookFanOut.ts"
import { unreadStreams } from "./scenarios/http/unreadStreams.ts"
import { webhookHints } from "./scenarios/http/webhookHints.ts"
import { addressGuesses } from "./scenarios/mail/addressGuesses.ts"
import { addressHeaders } from "./scenarios/mail/addressHeaders.ts"
import { cubicReport } from "./scenarios/mail/cubicReport.ts"
import { cubicSubmission } from "./scenarios/mail/cubicSubmission.ts"
import { flowed } from "./scenarios/mail/flowed.ts"
import { inboundMail } from "./scenarios/mail/inboundMail.ts"
import { ipv6 } from "./scenarios/mail/ipv6.ts"
import { signInDuringReports } from "./scenarios/mail/signInDuringReports.ts"
import { stopDuringReport } from "./scenarios/mail/stopDuringReport.ts"
import { scheduleAndCancel } from "./scenarios/mail/scheduleAndCancel.ts"
import { idleClients } from "./scenarios/mail/idleClients.ts"
import { strangers } from "./scenarios/mail/strangers.ts"

/** All attacks in the order of the table. To add one, write a file in `scenarios/` and list it here. */
export const SCENARIOS: ReadonlyArray<Scenario> = [
  cubicReport,
  cubicSubmission,
  stopDuringReport,
  addressHeaders,
  flowed,
  idleClients,
  inboundMail,
  strangers,
  addressGuesses,
  signInDuringReports,
  ipv6,
  unreadDocs,
  pipelined,
  previewCid,
  halfBodies,
  largestMail,
  sandboxLines,
  requestLogFlood,
  connections,
  metricsHost,
  webhookFanOut,
  webhookHints,
  authNonsense,
  passwordGuesses,
  codeReplay,
  publicTestToken,
  revokedKey,
  boundKey,
  terminal,
  unsubscribeTokens,
  scheduleAndCancel,
  largeLists,
  unreadStreams,
  ...LARGEST_REQUESTS,
]
