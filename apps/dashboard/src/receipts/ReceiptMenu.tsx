import { useMutation } from "@tanstack/react-query"
import { Braces, FileCheck, FileText } from "lucide-react"
import * as Api from "../api/Api.ts"
import { Button } from "../ui/controls/Button.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { showError } from "../ui/feedback/Toasts.tsx"
import type { ShownReceipt } from "./ReceiptFacts.ts"
import { instance } from "../api/instance.ts"
import { download } from "../ui/display/download.ts"

interface Props {
  readonly id: string
  readonly of: "email" | "inbound"
  readonly small?: boolean
}

/** Downloads the receipt of a message, sent or received: the file that can be checked, or a page that says it in words. */
export const ReceiptMenu = ({ id, of, small = false }: Props) => {
  const saving = useMutation({
    mutationFn: async (form: "json" | "pdf") =>
      saveReceipt(await Api.get<ShownReceipt>(`/${of}/${id}/receipt`), id, form),
    onError: showError,
  })
  return (
    <Menu
      trigger={
        <Button small={small} busy={saving.isPending} icon={<FileCheck size={14} />}>
          Receipt
        </Button>
      }
      items={[
        { name: "Download JSON", icon: <Braces size={14} />, onSelect: () => saving.mutate("json") },
        { name: "Download PDF", icon: <FileText size={14} />, onSelect: () => saving.mutate("pdf") },
      ]}
    />
  )
}

/** Gives a receipt to the user's browser. The code that makes pages of PDF is loaded when it is needed. */
const saveReceipt = async (receipt: ShownReceipt, id: string, form: "json" | "pdf"): Promise<void> => {
  const bytes = new TextEncoder().encode(`${JSON.stringify(receipt, null, 2)}\n`)
  const name = `receipt-${id}.json`
  if (form === "json") return download(new Blob([bytes], { type: "application/json" }), name)
  const [ReceiptPdf, { brush }] = await Promise.all([import("./ReceiptPdf.ts"), import("./brush.ts")])
  const places = { checkpoint: `${instance.url}/log/checkpoint`, verify: `${instance.url}/verify` }
  download(await ReceiptPdf.make(receipt, { name, bytes }, places, brush()), `receipt-${id}.pdf`)
}
