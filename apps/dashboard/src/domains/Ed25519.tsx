import { useMutation } from "@tanstack/react-query"
import { KeyRound, RotateCcwKey, Trash2 } from "lucide-react"
import { type ReactNode, useState } from "react"
import type { Domain, DomainRecord } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import type { MenuItem } from "../ui/controls/Menu.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"

/** Whether the record publishes an Ed25519 key. */
export const isEd25519 = ({ purpose, value }: DomainRecord): boolean =>
  purpose === "dkim" && /\bk=ed25519\b/u.test(value)

/** Menu items and dialogs to add, rotate and delete the Ed25519 DKIM key of a domain. */
export const useEd25519 = (
  { name, records }: Domain,
  updateCache: (next: Domain) => void,
): { readonly items: ReadonlyArray<MenuItem>; readonly dialogs: ReactNode; readonly error: unknown } => {
  const [dialog, setDialog] = useState<"rotate" | "remove">()
  const path = `/domains/${encodeURIComponent(name)}/dkim/ed25519`
  const add = useMutation({
    mutationFn: () => Api.post<Domain>(path),
    onSuccess: (next) => {
      updateCache(next)
      showToast("Ed25519 key created. Publish its record to activate it.")
    },
  })
  const items: ReadonlyArray<MenuItem> = records.some(isEd25519)
    ? [
        {
          name: "Rotate Ed25519 key",
          icon: <RotateCcwKey size={15} />,
          onSelect: () => setDialog("rotate"),
        },
        {
          name: "Delete Ed25519 key",
          icon: <Trash2 size={15} />,
          danger: true,
          onSelect: () => setDialog("remove"),
        },
      ]
    : [
        {
          name: "Add Ed25519 key",
          icon: <KeyRound size={15} />,
          disabled: add.isPending,
          onSelect: () => add.mutate(),
        },
      ]
  const dialogs = (
    <>
      <ConfirmDialog
        open={dialog === "rotate"}
        onClose={() => setDialog(undefined)}
        title="Rotate Ed25519 key?"
        isDestructive={false}
        action="Rotate key"
        onConfirm={async () => {
          updateCache(await Api.post<Domain>(`${path}/rotate`))
          showToast("New Ed25519 key created. Publish its record to activate it.")
        }}
      >
        A new DNS record appears here. Mail is signed with the old key until the new record is verified.
      </ConfirmDialog>
      <ConfirmDialog
        open={dialog === "remove"}
        onClose={() => setDialog(undefined)}
        title="Delete Ed25519 key?"
        action="Delete key"
        onConfirm={async () => {
          updateCache(await Api.remove<Domain>(path))
          showToast("Ed25519 key deleted.")
        }}
      >
        Mail is then signed with the RSA key only. Keep the DNS record for a few days, until mail in transit has
        arrived.
      </ConfirmDialog>
    </>
  )
  return { items, dialogs, error: add.error }
}
