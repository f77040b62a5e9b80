import { instance } from "../api/instance.ts"
import { download } from "../ui/display/download.ts"
import type { ShownReceipt } from "./ReceiptFacts.ts"

/** Gives a receipt to the user's browser. The code that makes pages of PDF is loaded when it is needed. */
export const saveReceipt = async (receipt: ShownReceipt, id: string, form: "json" | "pdf"): Promise<void> => {
  const bytes = new TextEncoder().encode(`${JSON.stringify(receipt, null, 2)}\n`)
  const name = `receipt-${id}.json`
  if (form === "json") return download(new Blob([bytes], { type: "application/json" }), name)
  const [ReceiptPdf, { brush }] = await Promise.all([import("./ReceiptPdf.ts"), import("./brush.ts")])
  const places = { checkpoint: `${instance.url}/log/checkpoint`, verify: `${instance.url}/verify` }
  download(await ReceiptPdf.make(receipt, { name, bytes }, places, brush()), `receipt-${id}.pdf`)
}
