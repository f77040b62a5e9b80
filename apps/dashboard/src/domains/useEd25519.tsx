import { useMutation } from "@tanstack/react-query"
import { KeyRound, RotateCcwKey, Trash2 } from "lucide-react"
import { type ReactNode, useState } from "react"
import type { Domain, DomainRecord } from "../api/Records.ts"
import { post, remove } from "../api/Api.ts"
import { Confirm } from "../ui/feedback/Dialog.tsx"
import type { MenuItem } from "../ui/controls/Menu.tsx"
import { say } from "../ui/feedback/Toasts.tsx"

/** Which kind of key it is, a record says in its value alone. */
export const isEd25519 = ({ purpose, value }: DomainRecord): boolean =>
  purpose === "dkim" && /\bk=ed25519\b/u.test(value)

/** What can be done about a domain's second key: its part of the menu, and what that asks. */
export const useEd25519 = (
  { name, records }: Domain,
  keep: (next: Domain) => void,
): { readonly items: ReadonlyArray<MenuItem>; readonly dialogs: ReactNode; readonly error: unknown } => {
  const [asked, setAsked] = useState<"rotate" | "remove">()
  const path = `/domains/${encodeURIComponent(name)}/dkim/ed25519`
  const add = useMutation({
    mutationFn: () => post<Domain>(path),
    onSuccess: (next) => {
      keep(next)
      say("An Ed25519 key waits for its record.")
    },
  })
  const items: ReadonlyArray<MenuItem> = records.some(isEd25519)
    ? [
        {
          name: "Rotate the Ed25519 key",
          icon: <RotateCcwKey size={15} />,
          onSelect: () => setAsked("rotate"),
        },
        {
          name: "Remove the Ed25519 key",
          icon: <Trash2 size={15} />,
          danger: true,
          onSelect: () => setAsked("remove"),
        },
      ]
    : [
        {
          name: "Add an Ed25519 key",
          icon: <KeyRound size={15} />,
          disabled: add.isPending,
          onSelect: () => add.mutate(),
        },
      ]
  const dialogs = (
    <>
      <Confirm
        open={asked === "rotate"}
        onOpenChange={() => setAsked(undefined)}
        title="Rotate the Ed25519 key?"
        action="Make a new key"
        onConfirm={async () => {
          keep(await post<Domain>(`${path}/rotate`))
          say("A new Ed25519 key waits for its record.")
        }}
      >
        A new record appears here. The old key signs until DNS shows the new one.
      </Confirm>
      <Confirm
        open={asked === "remove"}
        onOpenChange={() => setAsked(undefined)}
        title="Remove the Ed25519 key?"
        action="Remove"
        onConfirm={async () => {
          keep(await remove<Domain>(path))
          say("The Ed25519 key is removed.")
        }}
      >
        Mail is signed by the RSA key alone from now on. Leave the record in DNS for a few days, until mail that is
        under way has arrived.
      </Confirm>
    </>
  )
  return { items, dialogs, error: add.error }
}
