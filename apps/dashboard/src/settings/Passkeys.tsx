import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Fingerprint, Trash2 } from "lucide-react"
import * as Auth from "../api/Auth.ts"
import { instance } from "../api/instance.ts"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

export const Passkeys = () => {
  const client = useQueryClient()
  const { data } = useQuery({ queryKey: ["passkeys"], queryFn: Auth.passkeys })
  const refresh = () => client.invalidateQueries({ queryKey: ["passkeys"] })
  const form = useForm({
    initial: { name: "" },
    send: ({ name }) => Auth.addPasskey(name.trim() === "" ? "Passkey" : name.trim()),
    onSent: () => {
      form.set({ name: "" })
      void refresh()
      showToast("Passkey added. You can now sign in with it.")
    },
  })
  const deletion = useMutation({ mutationFn: Auth.removePasskey, onSuccess: refresh, onError: showError })
  const isPasskeyDomain = window.location.hostname === instance.passkeyDomain
  const passkeyUrl = new URL(window.location.href)
  passkeyUrl.hostname = instance.passkeyDomain
  return (
    <Panel title="Passkeys">
      {data === undefined || data.length === 0 ? undefined : (
        <ul className="divide-y divide-line border-b border-line">
          {data.map((passkey) => (
            <li key={passkey.id} className="flex items-center gap-3 px-4 py-2.5 text-sm">
              <Fingerprint size={16} className="text-ink-3" aria-hidden />
              <UntrustedText className="grow truncate" text={passkey.name ?? "Passkey"} />
              <span className="text-xs text-ink-3">
                {passkey.createdAt === null ? undefined : <RelativeTime iso={passkey.createdAt} />}
              </span>
              <IconButton label={`Remove ${passkey.name ?? "passkey"}`} onClick={() => deletion.mutate(passkey.id)}>
                <Trash2 size={15} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {isPasskeyDomain ? (
        <form className="flex flex-wrap items-end gap-3 p-4" onSubmit={form.onSubmit}>
          <TextField className="grow basis-60" label="Device name" placeholder="Laptop" {...form.input("name")} />
          <Button type="submit" className="h-9" icon={<Fingerprint size={15} />} busy={form.isPending}>
            Add passkey
          </Button>
          <ErrorMessage error={form.error} className="basis-full" />
        </form>
      ) : (
        <p className="p-4 text-sm text-ink-2">
          Passkeys require the domain name of this installation. Open{" "}
          <a className="font-medium link" href={passkeyUrl.href}>
            {passkeyUrl.host}
          </a>{" "}
          to add one.
        </p>
      )}
    </Panel>
  )
}
