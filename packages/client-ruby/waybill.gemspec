# frozen_string_literal: true

Gem::Specification.new do |gem|
  gem.name = "waybill-client"
  gem.version = "1.0.0.rc.1"
  gem.summary = "A typed client for Waybill, without dependencies"
  gem.authors = ["Waybill"]
  gem.license = "Apache-2.0"
  gem.required_ruby_version = ">= 3.0"
  gem.files = Dir["lib/**/*.rb", "sig/*.rbs", "README.md"]
end
