#!/bin/sh
# Run once, by the image, when the database is made: who owns the schemas, and who the services are.
set -eu

# The passwords are read by psql itself, so that no list of processes shows them.
psql --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
\set owner_password `cat /run/secrets/postgres_owner_password`
\set app_password `cat /run/secrets/postgres_app_password`

CREATE ROLE mneme_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'owner_password';
CREATE ROLE mneme_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'app_password';

SELECT current_database() AS database \gset
ALTER DATABASE :"database" OWNER TO mneme_owner;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO mneme_app;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
SQL
