/** Settings of Supabase that a quickstart shows. */
export interface Supabase extends Readonly<Record<"host" | "user" | "pass" | "admin_email" | "sender_name", string>> {
  readonly port: number
}

/** Settings of a realm that a quickstart shows. */
export interface Keycloak {
  readonly smtpServer: Readonly<
    Record<"host" | "port" | "from" | "fromDisplayName" | "auth" | "user" | "password" | "starttls" | "ssl", string>
  >
}

/** Calls the route handlers as Next.js does, and prints the status and the body of each answer. */
export const NEXT = `
import { POST as invite } from "./app/api/invitations/route.ts"
import { POST as receive } from "./app/api/hooks/route.ts"
const invitation = (email) => invite(new Request("http://localhost", { method: "POST", body: JSON.stringify({ email }) }))
const show = async (response) => console.log(response.status + " " + (await response.text()))
await show(await invitation("ana@example.org"))
await show(await invitation("nobody"))
await show(await receive(new Request("http://localhost", { method: "POST", ...JSON.parse(process.env.CALL) })))
`

/** Sends the receipt by Django, or as its backend does: with smtplib and the settings. Prints which. */
export const DJANGO = `
import smtplib
from email.message import EmailMessage
import settings
try:
    import django
except ImportError:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.DEFAULT_FROM_EMAIL, "ana@example.org", "Your receipt"
    message["X-Tag"], message["X-PM-Metadata-order"] = "receipt", "7044"
    message.set_content("Thank you.")
    message.add_alternative("<p>Thank you.</p>", subtype="html")
    with smtplib.SMTP(settings.EMAIL_HOST, settings.EMAIL_PORT, timeout=settings.EMAIL_TIMEOUT) as server:
        if settings.EMAIL_USE_TLS:
            server.starttls()
        server.login(settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD)
        server.send_message(message)
    print("smtplib")
else:
    from types import SimpleNamespace
    from django.conf import settings as configured
    configured.configure(**{name: value for name, value in vars(settings).items() if name.isupper()})
    django.setup()
    from receipts import send_receipt
    send_receipt(SimpleNamespace(id=7044, email="ana@example.org"))
    print("django")
`

/** Calls the views of the page by Flask's own client, or by a stand-in for what they use of Flask. Prints which. */
export const FLASK = `
import json, sys, types
try:
    import flask
    own = True
except ImportError:
    own = False
    views = {}
    class Flask:
        def __init__(self, name):
            import logging
            self.logger = logging.getLogger(name)
        def post(self, path):
            return lambda view: views.setdefault(path, view)
    class Request:
        def get_json(self):
            return json.loads(self.body)
        def get_data(self):
            return self.body.encode()
    request = Request()
    sys.modules["flask"] = types.SimpleNamespace(Flask=Flask, request=request)
from app import app
def post(path, body, headers):
    if own:
        return app.test_client().post(path, data=body, headers=headers).status_code
    request.body, request.headers = body, headers
    return views[path]()[1]
call = json.load(open("call.json"))
print("flask" if own else "stand-in")
as_json = {"content-type": "application/json"}
print(post("/orders", json.dumps({"id": 7043, "email": "ana@example.org"}), as_json))
print(post("/orders", json.dumps({"id": 7047, "email": "nobody"}), as_json))
print(post("/hooks", call["body"], call["headers"]))
`

/** Sends the receipt by Action Mailer, or with Net::SMTP and the settings. Prints which. */
export const RAILS = `
require "net/smtp"
require "ostruct"
module Rails
  def self.application
    @application ||= OpenStruct.new(config: OpenStruct.new(action_mailer: OpenStruct.new))
  end
end
load "config/initializers/waybill.rb"
mailer = Rails.application.config.action_mailer
begin
  require "logger"
  require "action_mailer"
rescue LoadError
  settings = mailer.smtp_settings
  smtp = Net::SMTP.new(settings[:address], settings[:port])
  settings[:enable_starttls] ? smtp.enable_starttls : smtp.disable_starttls
  message = "From: Acme <hello@acme.test>\\r\\nTo: ana@example.org\\r\\nSubject: Your receipt\\r\\n" \\
    "Content-Type: text/html\\r\\n\\r\\n<p>Thank you.</p>\\r\\n"
  smtp.start("localhost", settings[:user_name], settings[:password], settings[:authentication]) do |session|
    session.send_message(message, "hello@acme.test", "ana@example.org")
  end
  puts "net_smtp"
else
  ActionMailer::Base.delivery_method = mailer.delivery_method
  ActionMailer::Base.smtp_settings = mailer.smtp_settings
  load "app/mailers/receipt_mailer.rb"
  ReceiptMailer.receipt(OpenStruct.new(id: 7045, email: "ana@example.org")).deliver_now
  puts "action_mailer"
end
`

/** Sends by the service of the page, where Symfony Mailer is installed as Debian does. Prints whether it is. */
export const symfony = (dsn: string) => `<?php
$autoload = stream_resolve_include_path('Symfony/Component/Mailer/autoload.php');
if ($autoload === false || !extension_loaded('mbstring')) {
    exec(PHP_BINARY . ' -l src/Receipts.php', $lines, $code);
    exit($code === 0 ? 'parsed' : implode("\\n", $lines));
}
require $autoload;
require 'src/Receipts.php';
$transport = Symfony\\Component\\Mailer\\Transport::fromDsn('${dsn}');
(new App\\Receipts(new Symfony\\Component\\Mailer\\Mailer($transport)))->send(7046, 'ana@example.org');
echo 'symfony';
`
