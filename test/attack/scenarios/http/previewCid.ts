import { failedExpectations, summarize, type Scenario } from "../../harness/Scenario.ts"
import { send } from "../../harness/Target.ts"

const PIECE = "cid:% "
const ATTACHMENTS = 20

/** Sends HTML with very many references to attachments; the preview looks up each of them. */
export const previewCid: Scenario = {
  name: "preview with many image references",
  load: `a mail of "${PIECE}" repeated and ${ATTACHMENTS} attachments, previewed in the dashboard`,
  run: async ({ from, size, target }) => {
    const owner = { account_id: "", key: target.owner.key, testKey: "", domain: "acme.test" }
    const attachments = Array.from({ length: ATTACHMENTS }, (_, nth) => ({
      filename: `${nth}.png`,
      content: Buffer.from("x").toString("base64"),
      content_type: "image/png",
      content_id: `picture-${nth}`,
    }))
    const id = await send(target.http, owner, {
      html: PIECE.repeat(size(240_000, 600_000) / PIECE.length),
      attachments,
    })
    const page = await target.signedIn(from(0))
    const replies = []
    for (let nth = 0; nth < size(1, 3); nth++) replies.push(await page.request("GET", `/preview/emails/${id}`))
    replies.push(await page.request("GET", `/preview/emails/${id}/raw`))
    const statuses = replies.map(({ status }) => status)
    // An answer that says that the preview cannot be shown is accepted too.
    const isAnswered = statuses.every((status) => status > 0 && status !== 500)
    return {
      summary: summarize(statuses),
      failures: failedExpectations([[isAnswered, "the preview was not answered"]]),
    }
  },
}
