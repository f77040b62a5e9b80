# frozen_string_literal: true

# A typed client for the Waybill API, without dependencies. Types are in `sig`.
module Waybill
end

require_relative "waybill/error"
require_relative "waybill/key"
require_relative "waybill/webhook"
require_relative "waybill/sender"
require_relative "waybill/emails"
require_relative "waybill/account"
require_relative "waybill/inbound"
require_relative "waybill/templates"
require_relative "waybill/client"
