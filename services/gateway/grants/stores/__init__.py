"""Where grants are kept."""
